"""YAML → texts, lists and tables of texts; the only home of its library.

Every scalar is the text that stands there: no dates, no numbers, no tags, no objects. It stands
alone, since it is loaded only where a head has changed since it was last read. Read next: heads.py.
"""

from __future__ import annotations

import yaml

_MOST_NESTED = 400
"""Signs that may open a level; a head has none of them but in its text."""


def read_yaml(text: str) -> object:
    """Raises ValueError: it is no YAML, or nested too deeply."""
    if max(text.count("["), text.count("{"), text.count("- ")) > _MOST_NESTED:
        raise ValueError("nested too deeply")  # the library would go down until there is no room
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as e:
        raise ValueError(str(e)) from e
