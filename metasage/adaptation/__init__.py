"""Solving: methods that construct, sample and adapt, around one shared loop."""
