"""Assembly only (spec 12 `build_stream`): the one room that knows concrete classes."""
