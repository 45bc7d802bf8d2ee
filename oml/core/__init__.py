"""The ground under every room: errors, the actor, ids, time, canonical bytes. No models, no request, no settings."""
