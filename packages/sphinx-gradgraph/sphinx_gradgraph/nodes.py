"""What stands in a document for a figure, around the standard nodes that every builder knows."""

from docutils import nodes


class GradgraphProgram(nodes.General, nodes.Element):
    """The program: hidden in HTML while the player, which has it too, is on screen."""


class GradgraphPlayer(nodes.General, nodes.Element):
    """The picture: in HTML inside the element that plays the run. Its attribute `key` names the figure's files."""
