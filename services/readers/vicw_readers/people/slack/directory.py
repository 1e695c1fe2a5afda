"""The people and channels of a Slack export, by their ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

CHANNEL_LISTS = ("channels.json", "groups.json", "mpims.json", "dms.json")


@dataclass(frozen=True, slots=True)
class SlackDirectory:
    """Names by id. ``folders`` gives the id of a channel by the name of its folder."""

    people: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)

    def person(self, key: str) -> str:
        """Return the name of a person, or the id of somebody unknown."""
        return self.people.get(key, key)


def slack_directory(users: object, channel_lists: dict[str, object]) -> SlackDirectory:
    """Return the directory of the lists of an export; what is no list, or no entry of one, is left out."""
    people = {str(user["id"]): _name(user) for user in _entries(users)}
    channels: dict[str, str] = {}
    folders: dict[str, str] = {}
    for file_name, entries in channel_lists.items():
        for entry in _entries(entries):
            key = str(entry["id"])
            name = entry.get("name")
            members = [people.get(str(member), str(member)) for member in entry.get("members") or []]
            # Conversations of a few have names like "mpdm-ana--ben-1", direct messages none.
            is_direct = file_name in {"dms.json", "mpims.json"}
            channels[key] = ", ".join(members) if is_direct and members else str(name or key)
            folders[str(name or key)] = key
    return SlackDirectory(people, channels, folders)


def _name(user: dict[str, Any]) -> str:
    given = user.get("profile")
    profile = given if isinstance(given, dict) else {}
    names = (profile.get("real_name"), user.get("real_name"), profile.get("display_name"), user.get("name"))
    return str(next(filter(None, names), user["id"]))


def _entries(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict) and one.get("id")] if isinstance(value, list) else []
