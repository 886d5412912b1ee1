"""Classes by name."""

import inspect


class Registry:
    def __init__(self, name):
        self._name = name
        self._module_dict = {}

    def __contains__(self, key):
        return key in self._module_dict

    def get(self, key):
        return self._module_dict.get(key, None)

    def register_module(self, name=None, module=None, force=False):
        if module is not None:
            self._register(module, name, force)
            return module

        def _decorate(cls):
            self._register(cls, name, force)
            return cls

        return _decorate

    def _register(self, cls, name, force):
        names = [cls.__name__] if name is None else [name] if isinstance(name, str) else name
        for one in names:
            if not force and one in self._module_dict:
                raise KeyError(f"{one} is already registered in {self._name}")
            self._module_dict[one] = cls

    def build(self, cfg, **default_args):
        return build_from_cfg(cfg, self, default_args)


def build_from_cfg(cfg, registry, default_args=None):
    """An object of the class that cfg["type"] names."""
    args = dict(cfg)
    for name, value in (default_args or {}).items():
        args.setdefault(name, value)
    obj_type = args.pop("type")
    if isinstance(obj_type, str):
        obj_cls = registry.get(obj_type)
        if obj_cls is None:
            raise KeyError(f"{obj_type} is not in the registry")
    elif inspect.isclass(obj_type):
        obj_cls = obj_type
    else:
        raise TypeError(f"type must be a str or a class, not {type(obj_type)}")
    return obj_cls(**args)
