"""The admin console's frame: site, read-only pages, confirmed actions, tiles. It knows no domain."""
