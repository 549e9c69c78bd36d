"""Policies: networks that construct routes, and where their weights come from."""
