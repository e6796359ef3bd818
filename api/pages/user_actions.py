"""The actions on users and groups."""

from __future__ import annotations

from typing import Final

from api.pages.actions import Action
from api.pages.document_actions import DocumentForms
from api.pages.form_fields import Fields, fields_of_model, force_field
from api.rest.contract.inputs import documents as inputs
from api.rest.contract.inputs.access import NewPassword
from api.rest.ports import PageParts
from api.rest.resources.document_kinds import Groups, Users
from api.use_cases.passwords import require_may_set_password, set_password
from api.use_cases.ports import RequestContext
from domain.directory.roles import ROLES
from store.requests import Committed


async def _set_password(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    new = NewPassword(**fields)
    return await set_password(parts, request, name, new.password, new.current_password)


_FORMS: Final = DocumentForms(
    Users,
    "user",
    inputs.User,
    "A user can log in, after a password is set, and do what the roles allow.",
    hints={
        "roles": f"one on each line, the first is that of a login: {', '.join(ROLES)}",
    },
)
USER: Final = _FORMS.subject(
    _FORMS.change(),
    Action(
        name="password",
        label="Set the password",
        effect="The previous password is no longer valid. Logins and tokens stay.",
        require_may=require_may_set_password,
        perform=_set_password,
        fields=fields_of_model(
            NewPassword,
            secrets=("password", "current_password"),
            current_password="only to change your own password, if you have one and are no admin",
        ),
        model=NewPassword,
    ),
    _FORMS.removal(
        "It revokes the user's tokens, takes the user out of groups and access policies, and ends the user's"
        " reservations and loans. Jobs stay.",
        fields=(force_field("Although it is used", "yes: also with unfinished jobs, systems or groups"),),
    ),
)

_OF_GROUPS: Final = DocumentForms(
    Groups,
    "group",
    inputs.Group,
    "The members of a group share its jobs. Pools and access policies can name it.",
    hints={
        "owners": "users, one on each line",
        "members": "users, one on each line",
    },
)
GROUP: Final = _OF_GROUPS.subject(
    _OF_GROUPS.change(),
    _OF_GROUPS.removal("It takes the group out of access policies. Jobs of the group stay."),
)
