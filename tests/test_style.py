"""The look of fragments: light and dark by the page's own theme where it has one, else by the system's."""

import re

import pytest

from autojit.explain.style import fragment

RULES = re.findall(r"([^{}]+)\{([^{}]*)\}", fragment().replace("@media (prefers-color-scheme: dark) {", "@system"))


def modes():
    """What each rule says of the mode, by its selector, in the order of the sheet."""
    found = {selector.strip(): re.search(r"color-scheme: (\w+)", text) for selector, text in RULES}
    return {selector: said[1] for selector, said in found.items() if said}


def test_light_is_usual_and_dark_the_systems():
    first, second, *_ = modes().items()
    assert first[1] == "light" and first[0].endswith(".autojit") and second == ("@system .autojit", "dark")


@pytest.mark.parametrize("page, mode", {
    '[data-jp-theme-light="false"]': "dark", '[data-jp-theme-light="true"]': "light",
    ".vscode-dark": "dark", ".vscode-light": "light", '[data-vscode-theme-kind="vscode-dark"]': "dark",
    '[data-md-color-scheme="slate"]': "dark", '[data-md-color-scheme="default"]': "light",
}.items())
def test_the_theme_of_a_page_wins_over_the_system(page, mode):
    """Its rule has a selector of two parts, that of the system one."""
    (found,) = [(selector, said) for selector, said in modes().items() if page in selector]
    assert found[1] == mode and found[0].startswith(":is(") and found[0].endswith(") .autojit")


def test_each_colour_is_defined_once_for_both_modes():
    colours = [text for _, text in RULES if "--text:" in text]
    assert len(colours) == 1
    names = re.findall(r"--([a-z]+): var\(--in-light, [^()]+\) var\(--in-dark, [^()]+\);", colours[0])
    used = set(re.findall(r"var\(--([a-z]+)\)", "".join(text for _, text in RULES))) - {"hue"}
    assert len(set(names)) == len(names) and set(names) == used
