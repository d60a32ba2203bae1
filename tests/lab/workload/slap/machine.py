"""The few steps and expressions that slap's programs are made of, carried out as the engine does."""

from __future__ import annotations

from typing import Any


class Client:
    """One connection: `sent` are its statements as (name, sql), `connections` how often it was opened."""

    def __init__(self, program: dict[str, Any]) -> None:
        self._program = program
        self.sent: list[tuple[str, str]] = []
        self.connections = 1

    def run(self, events: int) -> Client:
        [transaction] = self._program["transactions"]
        for event in range(events):
            self._steps(transaction["steps"], event)
        return self

    def count(self, name: str) -> int:
        return sum(one == name for one, _ in self.sent)

    def _steps(self, steps: list[dict[str, Any]], event: int) -> None:
        for step in steps:
            [(kind, body)] = step.items()
            if kind == "send":
                self.sent.append((body["name"], "".join(self._part(part, event) for part in body["sql"])))
            elif kind == "when":
                chosen = "steps" if self._value(body["if"], event) else "else"
                self._steps(body.get(chosen, []), event)
            elif kind == "reconnect":
                self.connections += 1
            else:
                raise AssertionError(step)

    def _part(self, part: Any, event: int) -> str:
        match part:
            case str():
                return part
            case {"raw": expression}:
                return str(self._value(expression, event))
            case {"value": expression}:
                return f"'{self._value(expression, event)}'"
        raise AssertionError(part)

    def _value(self, expression: Any, event: int) -> Any:
        match expression:
            case int() | str():
                return expression
            case ["event"]:
                return event
            case ["+", a, b]:
                return self._value(a, event) + self._value(b, event)
            case ["%", a, b]:
                return self._value(a, event) % self._value(b, event)
            case ["==", a, b]:
                return int(self._value(a, event) == self._value(b, event))
            case ["word", name, index]:
                words = self._program["dictionaries"][name]["words"]
                return words[self._value(index, event) % len(words)]
            case ["pick", name]:
                return self._program["dictionaries"][name]["words"][0]
            case ["concat", *parts]:
                return "".join(self._value(part, event) for part in parts)
            case ["letters", low, low_too, alphabet] if low == low_too:
                return alphabet[0] * low
        raise AssertionError(expression)
