"""The deterministic scanner chain: text in, findings out, the same for everybody and every time.

Pure: no database, no clock, no network, no settings. A scanner points at what a person should look at, and
stops the few things that no honest memory contains. It does not judge plain words: that is the reviewer's
part (R2, R3).

What must never happen here: an excerpt of a secret in a finding, an exception that escapes the chain and is
taken for "clean", a text that makes a scanner slow.
"""
