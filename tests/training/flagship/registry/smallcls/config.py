"""Configurations: dictionaries whose keys are attributes too."""

import ast
import copy
import json


class Config(dict):
    @classmethod
    def from_file(cls, path):
        with open(path) as stream:
            return cls.wrap(json.load(stream))

    @classmethod
    def wrap(cls, value):
        if isinstance(value, dict):
            return cls({key: cls.wrap(item) for key, item in value.items()})
        if isinstance(value, list):
            return [cls.wrap(item) for item in value]
        return value

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __deepcopy__(self, memo):
        return Config({key: copy.deepcopy(item, memo) for key, item in self.items()})

    def merge(self, options):
        """key.of.entry=value"""
        for option in options:
            path, _, text = option.partition("=")
            *parents, last = path.split(".")
            place = self
            for name in parents:
                place = place[name]
            try:
                place[last] = Config.wrap(ast.literal_eval(text))
            except (ValueError, SyntaxError):
                place[last] = text
