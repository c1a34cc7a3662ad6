"""What a server's answer says, as text: everything else is named and left out."""

import json
from typing import Any, assert_never

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from silas.tools.mcp.tool import McpAnswer


def answer_of(result: CallToolResult) -> McpAnswer:
    """The words of an answer; its structured content where it has no words."""
    parts = [_words(block) for block in result.content]
    structured: Any = result.structured_content
    if not parts and structured is not None:
        parts = [json.dumps(structured, ensure_ascii=False, indent=2)]
    return McpAnswer(not result.is_error, "\n".join(parts))


def _words(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type}, {block.mime_type}, {len(block.data)} characters, not shown]"
        case ResourceLink():
            return f"[a resource: {block.uri}]"
        case EmbeddedResource(resource=TextResourceContents() as held):
            return held.text
        case EmbeddedResource(resource=BlobResourceContents() as held):
            return f"[a resource: {held.uri}, not shown]"
        case EmbeddedResource():
            return "[a resource of an unknown kind]"
        case _:
            assert_never(block)
