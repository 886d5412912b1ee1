"""The workshop: libcst nodes made, filled and paired with the resolver's; how names are spelled."""
