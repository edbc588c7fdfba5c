"""The last pass before a request: Context → messages that a model can be told, on a copy.

What is stored and what is sent differ, and this is the only place where they do (H05). In this
order: render what is no plain message into words, clean every text and image, drop what only
another model may see, drop what is empty, pair calls with results, make ids unique, and arrange for
strict servers. It runs for every request, summaries included. Deterministic, and stable under
appending: the messages of one request begin the next one, byte for byte, except where a later entry
answers a call that was still open, where pictures pass a bound of the endpoint, and where
`merge_users` joins prompts. No IO; the session is not touched. Read next: pairing.py, then
providers/base.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from agentsh.context.images import oldest_to_drop, usable
from agentsh.context.pairing import pair, with_unique_ids
from agentsh.context.projection import Context, ContextMessage, Item, SummaryMessage
from agentsh.context.system import SystemState
from agentsh.context.wording import (
    BRIDGE,
    IMAGE_UNSUPPORTED,
    NO_OUTPUT,
    OPENING,
    command_text,
    image_bound_note,
    image_note,
    summary_text,
)
from agentsh.images import MAX_IMAGE_BYTES, MAX_SIDE
from agentsh.jsontext import JsonObject, JsonValue, clean
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Image,
    SentMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserBlock,
    UserMessage,
)

# fields of a chat completion in which reasoning arrives; a signature that is one of these says
# where the text has to go back to
_REASONING_MEMBERS = frozenset(
    {
        *("reasoning_content", "reasoning", "reasoning_text", "reasoning_details"),
        "thinking_blocks",
    }
)
# members of stored calls that no answer of this API had: Pi's own for other APIs, and what a
# damaged block may have left over; on the wire they would be refused, or overwrite ours
_NOT_ECHOED = frozenset(
    {"thoughtSignature", "namespace", "rawArguments", "argumentsError"}
    | {"id", "type", "function", "arguments"}
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class OutboundRules(Struct, frozen=True):
    """What the pass must know of who is asked."""

    provider: str = ""
    model: str = ""
    api: str = "openai-completions"
    accepts_images: bool = True
    without_image: str = IMAGE_UNSUPPORTED
    """What stands in place of a picture where none is accepted."""
    merge_users: bool = False
    bridge_after_tool: bool = False
    short_call_ids: bool = False
    reasoning_echo: str = "auto"
    """never, calls (messages with calls only), always, auto."""
    max_image_bytes: int = MAX_IMAGE_BYTES
    max_image_side: int = MAX_SIDE
    max_images: int | None = None
    max_images_size: int | None = None
    """Characters of base64 of all pictures together."""
    builder: int = 3
    """Of the request (agent/turn/requests.py); 1 took ids as they came and named no language."""


def render_system(state: SystemState) -> str:
    """The system prompt: its sections, in their order."""
    return "\n\n".join(clean(text) for _, text in state.sections if text.strip())


def prepare(context: Context, rules: OutboundRules) -> tuple[SentMessage, ...]:
    """The messages of a request made from this context, system aside."""
    return prepare_items(context.items, rules)


def prepare_items(items: Iterable[Item], rules: OutboundRules) -> tuple[SentMessage, ...]:
    """The same for a part of a context, or for one with an instruction put behind it."""
    said = [m for item in items if (m := _sendable(item.message, rules)) is not None]
    is_native = (lambda m: True) if rules.builder < 2 else (lambda m: _is_own(m, rules))
    unique = with_unique_ids(pair(said), short=rules.short_call_ids, is_native=is_native)
    return tuple(_arranged(_within_bounds(unique, rules), rules))


def _is_own(message: AssistantMessage, rules: OutboundRules) -> bool:
    """Whether it comes from the model that is asked."""
    one = (message.provider, message.model, message.api)
    return one == (rules.provider, rules.model, rules.api)


def _sendable(message: ContextMessage, rules: OutboundRules) -> SentMessage | None:
    match message:
        case ToolResultMessage():
            return _result(message, rules)
        case AssistantMessage():
            return _assistant(message, rules)
        case UserMessage():
            return _user(message.content, rules, message.timestamp)
        case CustomRoleMessage():
            return _user(message.content, rules, message.timestamp)
        case BashExecutionMessage():
            return _user((Text(command_text(message)),), rules, message.timestamp)
        case SummaryMessage(kind, summary):
            said = (Text(summary_text(kind, summary)),) if summary.strip() else ()
            return _user(said, rules, 0)
        case _:
            assert_never(message)


def _result(message: ToolResultMessage, rules: OutboundRules) -> ToolResultMessage:
    content = _blocks(message.content, rules) or (Text(NO_OUTPUT),)
    if content is message.content and message.details is None and not message.extra:
        return message
    return ToolResultMessage(
        message.tool_call_id,
        message.tool_name,
        content,
        message.is_error,
        None,
        message.timestamp,
        message.duration_ms,
    )


def _user(
    content: tuple[UserBlock, ...], rules: OutboundRules, timestamp: int
) -> UserMessage | None:
    blocks = _blocks(content, rules)
    return UserMessage(blocks, timestamp) if blocks else None


def _blocks(content: tuple[UserBlock, ...], rules: OutboundRules) -> tuple[UserBlock, ...]:
    """Clean blocks; nothing at all when there is no image and only blank text."""
    if len(content) == 1 and type(only := content[0]) is Text and only.text.isascii():
        # nearly all there is; as it stands, where nothing is to be cleaned or taken off
        if not only.text or only.text.isspace():
            return ()
        return content if not only.extra else (Text(only.text),)
    blocks: list[UserBlock] = []
    for block in content:
        match block:
            case Text():
                if block.text:
                    blocks.append(Text(clean(block.text)))
            case Image():
                blocks.append(_image(block, rules))
            case _:
                assert_never(block)
    for each in blocks:
        if not isinstance(each, Text) or each.text.strip():
            return tuple(blocks)
    return ()


def _image(image: Image, rules: OutboundRules) -> UserBlock:
    if not rules.accepts_images:
        return Text(rules.without_image)
    checked = usable(image, rules.max_image_bytes, rules.max_image_side)
    return Text(image_note(checked)) if isinstance(checked, str) else checked


def _within_bounds(messages: Sequence[SentMessage], rules: OutboundRules) -> Sequence[SentMessage]:
    """Without the oldest pictures, where the endpoint takes fewer than there are."""
    most, room = rules.max_images, rules.max_images_size
    if most is None and room is None:
        return messages
    sizes = [len(b.data) for m in messages for b in m.content if isinstance(b, Image)]
    gone = oldest_to_drop(sizes, most, room)
    note = Text(image_bound_note(most, None if room is None else room * 3 // 4))
    sent: list[SentMessage] = []
    for message in messages:
        if gone and not isinstance(message, AssistantMessage):
            blocks: list[UserBlock] = []
            for block in message.content:
                is_gone = gone > 0 and isinstance(block, Image)
                gone -= is_gone
                blocks.append(note if is_gone else block)
            message = replace(message, content=tuple(blocks))
        sent.append(message)
    return sent


def _assistant(message: AssistantMessage, rules: OutboundRules) -> AssistantMessage | None:
    own = _is_own(message, rules)
    blocks: list[AssistantBlock] = []
    spoken = called = False
    for block in message.content:
        match block:
            case Text():
                if text := block.text:
                    spoken = spoken or not text.isspace()
                    is_fit = text.isascii() and (own or not block.extra)
                    blocks.append(
                        block if is_fit else Text(clean(text), block.extra if own else {})
                    )
            case ToolCall():
                called = True
                blocks.append(_call(block, own=own))
            case Thinking():
                if own and _echoes(block, rules, has_calls=bool(message.tool_calls)):
                    blocks.append(replace(block, thinking=clean(block.thinking)))
            case _:
                assert_never(block)
    if not spoken:
        if not called:
            return None
        blocks = [b for b in blocks if not isinstance(b, Text)]
    is_same = len(blocks) == len(message.content) and all(map(is_, blocks, message.content))
    if is_same and message.error_message is None and (own or not message.extra):
        return message  # nearly all there are
    return replace(
        message, content=tuple(blocks), error_message=None, extra=message.extra if own else {}
    )


def _echoes(block: Thinking, rules: OutboundRules, *, has_calls: bool) -> bool:
    """Whether reasoning goes back to the model that gave it (E28, E29)."""
    match rules.reasoning_echo:
        case "always":
            return True
        case "calls":
            return has_calls
        case "never":
            return False
        case _:
            if rules.api == "openai-completions":
                return block.signature in _REASONING_MEMBERS
            return block.signature is not None


def _call(call: ToolCall, *, own: bool) -> ToolCall:
    is_bare = not call.extra and call.raw_arguments is None and call.arguments_error is None
    if is_bare and _is_name(call.name) and _is_plain(call.arguments):
        return call  # nearly all there are
    extra: JsonObject = {}
    if own and call.extra:
        extra = {k: v for k, v in call.extra.items() if k not in _NOT_ECHOED}
    # arguments that did not parse were kept for people to look at; the model gets {} (S40)
    return ToolCall(call.id, _tool_name(call.name), _clean_object(call.arguments), extra=extra)


@lru_cache(maxsize=64)
def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def _tool_name(name: str) -> str:
    """A name that servers accept, whatever a model made up: it is in the history for ever (E21)."""
    if _is_name(name):
        return name
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def _is_plain(arguments: Mapping[str, JsonValue]) -> bool:
    """Whether there is nothing in it that would have to be cleaned, as far as a look tells."""
    for key, item in arguments.items():
        if type(item) is not str or not item.isascii() or not key.isascii():
            return False
    return True


def _clean_object(value: Mapping[str, JsonValue]) -> JsonObject:
    return {
        clean(key): clean(item) if isinstance(item, str) else _clean_value(item)
        for key, item in value.items()
    }


def _clean_value(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return clean(value)
        case None | bool() | int() | float():
            return value
        case dict():  # before Mapping, which is slow to tell
            return _clean_object(value)
        case Mapping():
            return _clean_object(value)
        case _:
            return [_clean_value(item) for item in value]


# ---- strict servers --------------------------------------------------------------------------


def _arranged(messages: Sequence[SentMessage], rules: OutboundRules) -> Sequence[SentMessage]:
    if rules.bridge_after_tool:
        messages = _bridged(messages, rules)
    if rules.merge_users:
        messages = _alternating(messages)
    return messages


def _bridged(messages: Sequence[SentMessage], rules: OutboundRules) -> list[SentMessage]:
    """A short answer between a tool result and a user message (E27)."""
    bridge = AssistantMessage(
        (Text(BRIDGE),), rules.api, rules.provider, rules.model, Usage(), "stop"
    )
    sent: list[SentMessage] = []
    for message in messages:
        if isinstance(message, UserMessage) and sent and isinstance(sent[-1], ToolResultMessage):
            sent.append(bridge)
        sent.append(message)
    return sent


def _alternating(messages: Sequence[SentMessage]) -> list[SentMessage]:
    """User and answer in turns, the user first."""
    sent: list[SentMessage] = []
    for message in messages:
        match message, sent[-1] if sent else None:
            case UserMessage(), UserMessage() as before:
                sent[-1] = replace(before, content=(*before.content, *message.content))
            case AssistantMessage(), AssistantMessage() as before if not before.tool_calls:
                sent[-1] = replace(message, content=(*before.content, *message.content))
            case AssistantMessage(), None:
                sent += [UserMessage((Text(OPENING),)), message]
            case _:
                sent.append(message)
    return sent
