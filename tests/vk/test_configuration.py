"""The table of switches: environment, overrides, errors, documentation."""

import pytest
from vulkan_program import run_python

from vkarray import configuration
from vkarray.errors import ConfigurationError


def test_environment_is_read_at_first_use():
    done = run_python(
        "from vkarray.configuration import current\n"
        "c = current(); print(c.debug, sorted(c.disable), c.guard, c.cpu_threads)",
        VKARRAY_DEBUG="3",
        VKARRAY_DISABLE=" shaderInt8, shaderInt64 ,",
        VKARRAY_GUARD="on",
        VKARRAY_CPU_THREADS="2",
    )
    assert done.stdout == "3 ['shaderInt64', 'shaderInt8'] True 2\n", done.stderr


@pytest.mark.parametrize(
    ("variable", "value"), [("DEBUG", "6"), ("DEBUG", "much"), ("GUARD", "maybe"), ("CPU_THREADS", "-1")]
)
def test_wrong_value_names_variable_and_choices(monkeypatch, variable, value):
    monkeypatch.setenv(f"VKARRAY_{variable}", value)
    try:
        with pytest.raises(ConfigurationError, match=f"The environment variable VKARRAY_{variable} is '{value}'; "):
            configuration.reload()
    finally:
        monkeypatch.delenv(f"VKARRAY_{variable}")
        configuration.reload()


def test_empty_variables_count_as_unset(monkeypatch):
    default = configuration.SWITCHES[[switch.name for switch in configuration.SWITCHES].index("cache")].default()
    with monkeypatch.context() as patch:
        for switch in configuration.SWITCHES:
            patch.setenv(switch.variable, "")
        values = configuration.reload()
        assert values.cache == default, "an empty VKARRAY_CACHE is the current directory"
        assert (values.debug, values.device, values.guard, values.cpu_threads) == (0, None, False, None)
    configuration.reload()


@pytest.mark.parametrize("value", ["", None, "~no-such-user-at-all/cache"])
def test_cache_that_is_no_directory(value):
    with (
        pytest.raises(ConfigurationError, match=r"config: cache is .*; expected a directory[.:]"),
        configuration.config(cache=value),
    ):
        pass


def test_a_misspelt_variable_is_noticed(monkeypatch):
    monkeypatch.setenv("VKARRAY_" + "DEBGU", "1")
    with pytest.warns(UserWarning, match=r"VKARRAY_DEBGU is no switch of vkarray; those are VKARRAY_DEBUG, "):
        configuration.reload()


def test_overrides_nest_and_end_in_any_order():
    base = configuration.current().as_dict()
    outer, inner = configuration.config(debug=4), configuration.config(debug=5, compare=True)
    outer.__enter__()
    inner.__enter__()
    assert (configuration.current().debug, configuration.current().compare) == (5, True)
    outer.__exit__(None, None, None)
    assert configuration.current().debug == 5, "ending the outer block ends the inner one"
    inner.__exit__(None, None, None)
    assert configuration.current().as_dict() == base


def test_unknown_switch_lists_the_known():
    with (
        pytest.raises(ConfigurationError, match="config: unknown switch dbug; the switches are debug, device,"),
        configuration.config(dbug=1),
    ):
        pass


def test_table_has_every_switch():
    lines = configuration.table().splitlines()
    assert len(lines) == 2 + len(configuration.SWITCHES)
    assert all(line.count("|") == 5 for line in lines)
    assert {switch.name for switch in configuration.SWITCHES} == set(configuration.current().as_dict())
    assert all(
        f"\n    {switch.name} ({switch.values}): " in configuration.config.__doc__ for switch in configuration.SWITCHES
    )
