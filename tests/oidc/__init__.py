"""Tests of signing in at an identity provider: one that misbehaves on demand, and a real one."""
