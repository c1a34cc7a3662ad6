"""How four published protocols write one answer, whole and in pieces.

`chat`: OpenAI's chat completions; OpenRouter, Ollama, llama.cpp, vLLM and LM Studio speak it too.
`responses`: OpenAI's responses. `messages`: Anthropic's. `gemini`: Google's generateContent.
Written from their references; no recording of a provider is in here.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Json = dict[str, Any]
Reason = Literal["stop", "length", "filter"]

PROMPT, ANSWER = 100, 10  # tokens that every answer counts


@dataclass(frozen=True)
class Said:
    """What a server answers, in no protocol.

    Attributes:
        text: The answer's words; None beside tool calls.
        calls: Name and JSON arguments of each tool call.
        reason: Why it ended.
        model: As it was asked for.
        turn: How many requests came before.
        usage: Whether tokens are counted.
    """

    text: str | None
    calls: tuple[tuple[str, str], ...] = ()
    reason: Reason = "stop"
    model: str = ""
    turn: int = 0
    usage: bool = True

    @property
    def ids(self) -> list[tuple[str, str, str]]:
        """The calls with an id each."""
        return [(f"call_{self.turn}_{at}", *call) for at, call in enumerate(self.calls)]


class Wire(NamedTuple):
    """A protocol: an answer as one body, and as a stream of events."""

    whole: Callable[[Said], Json]
    events: Callable[[Said], str]


def _cut(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _sse(events: Iterable[Json], *, named: bool = False) -> str:
    return "".join(
        (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n"
        for event in events
    )


# chat completions

_CHAT_ENDS = {"stop": "stop", "length": "length", "filter": "content_filter"}
_DONE = "data: [DONE]\n\n"
_CHAT_USAGE = {
    "prompt_tokens": PROMPT,
    "completion_tokens": ANSWER,
    "total_tokens": PROMPT + ANSWER,
}


def _chat_end(said: Said) -> str:
    return "tool_calls" if said.calls and said.reason == "stop" else _CHAT_ENDS[said.reason]


def _chat_head(said: Said) -> Json:
    return {"id": f"chatcmpl-{said.turn}", "created": 1_700_000_000, "model": said.model}


def _chat_calls(said: Said) -> list[Json]:
    return [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in said.ids
    ]


def _chat(said: Said) -> Json:
    message: Json = {"role": "assistant", "content": said.text}
    if said.calls:
        message["tool_calls"] = _chat_calls(said)
    choice = {"index": 0, "message": message, "finish_reason": _chat_end(said)}
    counted = {"usage": _CHAT_USAGE} if said.usage else {}
    return {**_chat_head(said), "object": "chat.completion", "choices": [choice], **counted}


def _chat_chunks(said: Said) -> list[Json]:
    deltas: list[Json] = [{"role": "assistant", "content": None if said.calls else ""}]
    for at, call in enumerate(_chat_calls(said)):
        function: Json = call["function"]
        deltas.append(
            {"tool_calls": [{"index": at, **call, "function": {**function, "arguments": ""}}]}
        )
        for piece in _cut(function["arguments"]):
            deltas.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    deltas += [{"content": piece} for piece in _cut(said.text or "")]
    choices: list[list[Json]] = [
        [{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas
    ]
    choices.append([{"index": 0, "delta": {}, "finish_reason": _chat_end(said)}])
    head = {**_chat_head(said), "object": "chat.completion.chunk"}
    chunks: list[Json] = [{**head, "choices": one} for one in choices]
    if said.usage:
        chunks.append({**head, "choices": [], "usage": _CHAT_USAGE})
    return chunks


def _chat_events(said: Said) -> str:
    return _sse(_chat_chunks(said)) + _DONE


def _router_whole(said: Said) -> Json:
    return _router(_chat(said))


def _router_events(said: Said) -> str:
    return _sse(map(_router, _chat_chunks(said))) + _DONE


def _router(chat: Json) -> Json:
    """OpenRouter adds who answered, and what that provider calls the end."""
    ends = ({**one, "native_finish_reason": one["finish_reason"]} for one in chat["choices"])
    return {**chat, "provider": "Anthropic", "choices": list(ends)}


# responses


def _responses_items(said: Said) -> list[Json]:
    items: list[Json] = []
    if said.text is not None:
        part: Json = {"type": "output_text", "text": said.text, "annotations": []}
        items.append({"type": "message", "id": f"msg_{said.turn}", "role": "assistant"})
        items[-1] |= {"status": "completed", "content": [part]}
    for id_, name, arguments in said.ids:
        call: Json = {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": name}
        items.append({**call, "arguments": arguments, "status": "completed"})
    return items


def _responses_head(said: Said, status: str) -> Json:
    return {
        "id": f"resp_{said.turn}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": said.model,
        "status": status,
        "output": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
    }


def _responses(said: Said) -> Json:
    whole = _responses_head(said, "completed") | {"output": _responses_items(said)}
    if said.reason != "stop":
        why = "max_output_tokens" if said.reason == "length" else "content_filter"
        whole |= {"status": "incomplete", "incomplete_details": {"reason": why}}
    if said.usage:
        whole["usage"] = {
            "input_tokens": PROMPT,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": ANSWER,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": PROMPT + ANSWER,
        }
    return whole


def _responses_events(said: Said) -> str:
    events: list[Json] = [
        {"type": "response.created", "response": _responses_head(said, "in_progress")}
    ]
    for at, item in enumerate(_responses_items(said)):
        place: Json = {"output_index": at, "item_id": item["id"]}
        begun = {**item, "status": "in_progress"}
        if item["type"] == "message":
            part: Json = item["content"][0]
            inner = {**place, "content_index": 0}
            begun["content"] = []
            events.append({"type": "response.output_item.added", "output_index": at, "item": begun})
            empty = {**part, "text": ""}
            events.append({"type": "response.content_part.added", **inner, "part": empty})
            events += [
                {"type": "response.output_text.delta", **inner, "delta": piece, "logprobs": []}
                for piece in _cut(part["text"])
            ]
            done: Json = {"type": "response.output_text.done", **inner, "logprobs": []}
            events.append({**done, "text": part["text"]})
            events.append({"type": "response.content_part.done", **inner, "part": part})
        else:
            begun["arguments"] = ""
            events.append({"type": "response.output_item.added", "output_index": at, "item": begun})
            kind = "response.function_call_arguments"
            events += [
                {"type": f"{kind}.delta", **place, "delta": piece}
                for piece in _cut(item["arguments"])
            ]
            named = {"name": item["name"], "arguments": item["arguments"]}
            events.append({"type": f"{kind}.done", **place, **named})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    whole = _responses(said)
    events.append({"type": f"response.{whole['status']}", "response": whole})
    numbered = ({**event, "sequence_number": at} for at, event in enumerate(events))
    return _sse(numbered, named=True)


# messages

_MESSAGES_ENDS = {"stop": "end_turn", "length": "max_tokens", "filter": "refusal"}


def _messages_blocks(said: Said) -> list[Json]:
    words: list[Json] = [] if said.text is None else [{"type": "text", "text": said.text}]
    return words + [
        {"type": "tool_use", "id": id_, "name": name, "input": json.loads(arguments)}
        for id_, name, arguments in said.ids
    ]


def _messages_end(said: Said) -> str:
    return "tool_use" if said.calls and said.reason == "stop" else _MESSAGES_ENDS[said.reason]


def _messages(said: Said) -> Json:
    head = {"id": f"msg_{said.turn}", "type": "message", "role": "assistant", "model": said.model}
    ended = {"stop_reason": _messages_end(said), "stop_sequence": None}
    counted = {"input_tokens": PROMPT, "output_tokens": ANSWER}
    return {**head, "content": _messages_blocks(said), **ended, "usage": counted}


def _messages_events(said: Said) -> str:
    whole = _messages(said)
    begun: Json = {**whole, "content": [], "stop_reason": None}
    begun["usage"] = {"input_tokens": PROMPT, "output_tokens": 1}
    events: list[Json] = [{"type": "message_start", "message": begun}]
    for at, block in enumerate(_messages_blocks(said)):
        if block["type"] == "text":
            empty: Json = {**block, "text": ""}
            kind, key, text = "text_delta", "text", block["text"]
        else:
            empty = {**block, "input": {}}
            kind, key, text = "input_json_delta", "partial_json", json.dumps(block["input"])
        events.append({"type": "content_block_start", "index": at, "content_block": empty})
        events += [
            {"type": "content_block_delta", "index": at, "delta": {"type": kind, key: piece}}
            for piece in _cut(text)
        ]
        events.append({"type": "content_block_stop", "index": at})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    counted = {"output_tokens": ANSWER}
    events.append({"type": "message_delta", "delta": ended, "usage": counted})
    events.append({"type": "message_stop"})
    return _sse(events, named=True)


# generateContent

_GEMINI_ENDS = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}


def _gemini_chunk(said: Said, parts: list[Json], *, last: bool) -> Json:
    candidate: Json = {"content": {"parts": parts, "role": "model"}, "index": 0}
    chunk: Json = {"candidates": [candidate], "modelVersion": said.model}
    chunk["responseId"] = f"gemini-{said.turn}"
    if last:
        candidate["finishReason"] = _GEMINI_ENDS[said.reason]
        chunk["usageMetadata"] = {
            "promptTokenCount": PROMPT,
            "candidatesTokenCount": ANSWER,
            "totalTokenCount": PROMPT + ANSWER,
        }
    return chunk


def _gemini_calls(said: Said) -> list[Json]:
    return [
        {"functionCall": {"name": name, "args": json.loads(arguments)}}
        for name, arguments in said.calls
    ]


def _gemini(said: Said) -> Json:
    words: list[Json] = [] if said.text is None else [{"text": said.text}]
    return _gemini_chunk(said, words + _gemini_calls(said), last=True)


def _gemini_events(said: Said) -> str:
    parts = [[{"text": piece}] for piece in _cut(said.text or "")]
    parts += [[call] for call in _gemini_calls(said)]
    *begun, last = parts or [[]]
    chunks = [_gemini_chunk(said, one, last=False) for one in begun]
    return _sse([*chunks, _gemini_chunk(said, last, last=True)])


CHAT = Wire(_chat, _chat_events)
ROUTER = Wire(_router_whole, _router_events)
RESPONSES = Wire(_responses, _responses_events)
MESSAGES = Wire(_messages, _messages_events)
GEMINI = Wire(_gemini, _gemini_events)
