"""Dry run of ported programs on MindSpore's Ascend backend, without a device."""
