"""Whole chat templates in the style of today's models, written for this test, each rendered for several conversations."""

import itertools

TOOL_CALLS = """\
{%- macro render_type(p) -%}
    {%- if p.enum is defined -%}
        {{- p.enum | map('tojson') | join(' | ') -}}
    {%- elif p.type is string -%}
        {{- {'string': 'str', 'integer': 'int', 'boolean': 'bool'}.get(p.type, p.type) -}}
        {%- if p.type == 'array' and p['items'] is mapping -%}[{{ render_type(p['items']) }}]{%- endif -%}
    {%- elif p.type is iterable and p.type is not none -%}
        {{- p.type | join(' or ') -}}
    {%- else -%}
        any
    {%- endif -%}
{%- endmacro -%}
{%- macro signature(f, indent='  ') -%}
    {{- f.name -}}(
    {%- for name, p in f.parameters.properties.items() -%}
        {{- name ~ ': ' ~ render_type(p) -}}
        {%- if name not in f.parameters.get('required', []) %} = {{ p.default | tojson if p.default is defined else 'None' }}{% endif -%}
        {%- if not loop.last %}, {% endif -%}
    {%- endfor -%}
    )
    {%- if f.description %}{{ '\\n' ~ indent ~ '# ' ~ f.description | trim }}{% endif -%}
{%- endmacro -%}
{%- if messages[0].role == 'system' -%}
    {%- set system = messages[0].content | trim -%}
    {%- set conversation = messages[1:] -%}
{%- else -%}
    {%- set system = 'You are a test.' -%}
    {%- set conversation = messages -%}
{%- endif -%}
{{- (bos_token | default('')) ~ '<|system|>\\n' ~ system -}}
{%- if tools %}

# Tools
{% for tool in tools %}
{%- set f = tool.function if tool.function is defined else tool %}
- {{ signature(f) }}
{% endfor %}
Schemas: {{ tools | tojson }}
{%- endif %}
<|end|>
{% for m in conversation %}
{% if m.role not in ['user', 'assistant', 'tool'] %}
{{ raise_exception('unknown role ' ~ m.role ~ ' at ' ~ loop.index0) }}
{% elif m.role == 'tool' %}
{% if loop.previtem is undefined or loop.previtem.role != 'tool' %}
<|results|>
{% endif %}
[{{ m.name | default('?') }}] {{ m.content if m.content is string else m.content | tojson(indent=2) }}
{% if loop.last or loop.nextitem.role != 'tool' %}
<|end|>
{% endif %}
{% elif m.tool_calls is defined and m.tool_calls %}
<|assistant|>
{%- if m.content %}{{ '\\n' + m.content }}{% endif %}
{% for call in m.tool_calls %}
{%- set call = call.function if 'function' in call else call %}

<call>{"name": "{{ call.name }}", "arguments": {{ call.arguments if call.arguments is string else call.arguments | tojson }}}</call>
{%- endfor %}<|end|>
{% else %}
<|{{ m.role }}|>
{{ m.content }}<|end|>
{% endif %}
{% endfor %}
{% if add_generation_prompt %}
<|assistant|>
{% endif %}
"""

REASONING = """\
{#- keeps the reasoning of the turns after the last real question only -#}
{%- set ns = namespace(last_query=-1, searching=true, system='') -%}
{%- for m in messages[::-1] -%}
    {%- set index = (messages | length - 1) - loop.index0 -%}
    {%- if ns.searching and m.role == 'user' and not (m.content is string and m.content.startswith('<result>') and m.content.endswith('</result>')) -%}
        {%- set ns.searching = false -%}
        {%- set ns.last_query = index -%}
    {%- endif -%}
{%- endfor -%}
{%- for m in messages if m.role == 'system' -%}
    {%- set ns.system = ns.system ~ ('\\n' if not loop.first) ~ m.content -%}
{%- endfor -%}
{%- if ns.system %}{{ '[SYS]' + ns.system + '[/SYS]' }}{% endif -%}
{%- for m in messages if m.role != 'system' -%}
    {%- set content = m.content if m.content is string else (m.content | selectattr('type', 'equalto', 'text') | map(attribute='text') | join('\\n') if m.content else '') -%}
    {%- if m.role == 'user' -%}
        {{- '[USER]' + content + '[/USER]' -}}
    {%- elif m.role == 'assistant' -%}
        {%- set thought = '' -%}
        {%- if m.reasoning_content is string -%}
            {%- set thought = m.reasoning_content -%}
        {%- elif '</think>' in content -%}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') -%}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') -%}
        {%- endif -%}
        [BOT]
        {%- generation -%}
        {%- if thought and (loop.last or messages.index(m) > ns.last_query) -%}
            {{- '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' -}}
        {%- endif -%}
        {{- content ~ eos_token -}}
        {%- endgeneration -%}
        [/BOT]
    {%- else -%}
        {{- '[' ~ m.role | upper ~ ']' ~ content ~ '[/' ~ m.role | upper ~ ']' -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '[BOT]' -}}
    {%- if enable_thinking is defined and enable_thinking is false -%}
        {{- '<think>\\n\\n</think>\\n\\n' -}}
    {%- endif -%}
{%- endif -%}
"""

STRICT = """\
{% set loop_messages = messages %}
{% if messages[0]['role'] == 'system' %}
{% set loop_messages = messages[1:] %}
{% set prefix = '<<SYS>>\\n' + messages[0]['content'] + '\\n<</SYS>>\\n\\n' %}
{% else %}
{% set prefix = '' %}
{% endif %}
{% for message in loop_messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{% endif %}
{% set content = prefix + message['content'] if loop.first else message['content'] %}
{% if message['role'] == 'user' %}
{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
{% elif message['role'] == 'assistant' %}
{{ ' ' + content.strip() + ' ' + eos_token }}
{% endif %}
{% endfor %}
"""

SCHEMA = """\
{% macro describe(schema, depth=0) %}
{% set pad = '  ' * depth %}
{% if schema is mapping %}
{% for key, value in schema | dictsort %}
{% if value is mapping %}
{{ pad }}{{ key }}:
{{ describe(value, depth + 1) -}}
{% elif value is sequence and value is not string %}
{{ pad }}{{ key }}: [{{ value | join(', ') }}]
{% else %}
{{ pad }}{{ key }}: {{ value }}
{% endif %}
{% endfor %}
{% endif %}
{% endmacro %}
{% for tool in tools or [] %}
## {{ loop.index }}/{{ loop.length }} {{ tool.function.name | replace('_', ' ') | title }}
{% filter indent(2, first=true) %}
{{ describe(tool.function.parameters) -}}
{% endfilter %}
{% else %}
No tools.
{% endfor %}
{% set counted %}{{ messages | length }} message{{ 's' if messages | length != 1 }}{% endset %}
{{ '%s, %d tool%s' | format(counted, (tools or []) | length, '' if (tools or []) | length == 1 else 's') }}
{% for role, group in [('user', messages | selectattr('role', 'equalto', 'user') | list), ('rest', messages | rejectattr('role', 'equalto', 'user') | list)] %}
{{ role }}: {{ group | map(attribute='content') | map('string') | map('length') | list }}
{% endfor %}
"""

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": " Weather at a place: <b>météo</b> & \"more\".\n",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "L'endroit"},
                "unit": {"type": "string", "enum": ["°C", "°F"], "default": "°C"},
                "days": {"type": ["integer", "null"], "default": 1.0},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            },
            "required": ["city"],
        },
    },
}
PING = {"name": "ping", "parameters": {"type": "object", "properties": {}}}

CONVERSATIONS = {
    "one question": [{"role": "user", "content": "Hi"}],
    "system and turns": [
        {"role": "system", "content": "  Be brief.\n"},
        {"role": "user", "content": "Qu'est-ce que c'est ? 東京 😀"},
        {"role": "assistant", "content": "<think>\nHmm.\n</think>\n\nA city."},
        {"role": "user", "content": " and \"{{ this }}\" {% raw %}? "},
    ],
    "tool calls": [
        {"role": "user", "content": "Weather in Zürich and Oslo?"},
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "Two calls.",
            "tool_calls": [
                {"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": 2, "x": [None, True, 1.5]}}},
                {"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"},
            ],
        },
        {"role": "tool", "name": "get_weather", "content": "sunny"},
        {"role": "tool", "content": {"temperature": -3.0, "notes": []}},
        {"role": "assistant", "content": "Sunny; cold."},
        {"role": "user", "content": "Thanks"},
    ],
    "parts": [
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image", "url": "x"}, {"type": "text", "text": "what?"}]},
        {"role": "assistant", "content": "A cat.", "reasoning_content": "\nfur\n"},
        {"role": "user", "content": "<result>ok</result>"},
        {"role": "assistant", "content": "<think>t</think>Done."},
    ],
    "bad order": [{"role": "assistant", "content": "?"}, {"role": "critic", "content": "no"}],
    "empty": [],
}

OPTIONS = [
    {"add_generation_prompt": True, "tools": None},
    {"add_generation_prompt": False, "tools": [WEATHER], "enable_thinking": True},
    {"add_generation_prompt": True, "tools": [WEATHER, {"type": "function", "function": PING}], "enable_thinking": False},
]


def cases():
    templates = {"tool calls": TOOL_CALLS, "reasoning": REASONING, "strict": STRICT, "schema": SCHEMA}
    out = []
    for (name, template), (conversation, messages), (i, options) in itertools.product(
        templates.items(), CONVERSATIONS.items(), enumerate(OPTIONS)
    ):
        variables = {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", **options}
        out.append((f"template {name}: {conversation}, options {i + 1}", template, variables, False))
    return out
