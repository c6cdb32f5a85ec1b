"""The `wifi` model held against published and measured values of others."""
