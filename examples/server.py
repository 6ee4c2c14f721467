"""The lending desk of a small library, as an MCP server whose definitions have nothing to repair.

    python examples/server.py              # over stdio
    python examples/server.py --http 8000  # over streamable HTTP on http://127.0.0.1:8000/mcp

All data is in memory and begins anew with every start. `repaired.json` holds these definitions, and
`defective.json` holds the same tools as a careless author would have described them.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Annotated, Any, Literal, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

LOAN_DAYS = 21
MAX_LOANS = 5
ORDER_FEE_CENTS = 300

Branch = Literal["central", "harbor", "hillside"]
MemberId = Annotated[str, Field(description="The number on the member's card, such as M-100.")]


class Title(BaseModel):
    """A title of our own catalog."""

    title_id: str = Field(description="Identifies the title, such as T-1.")
    name: str = Field(description="The name on the cover.")
    author: str = Field(description="The author, first name first.")
    subject: str = Field(description="The shelf on which it stands.")
    free_copies: list[str] = Field(description="The ids of the copies that stand on the shelf, such as T-1/2.")


class Titles(BaseModel):
    """What a search finds."""

    titles: list[Title] = Field(description="The titles found, by name.")
    total: int = Field(description="How many titles match, shown or not.")


class Loan(BaseModel):
    """A copy in a member's hands."""

    loan_id: str = Field(description="Identifies the loan, such as L-1.")
    copy_id: str = Field(description="The copy that is lent.")
    member_id: str = Field(description="Who has it.")
    due_on: date = Field(description="The last day without being overdue.")
    days_overdue: int = Field(description="Days past the due date; 0 when in time.")


class Loans(BaseModel):
    """What one member has borrowed."""

    loans: list[Loan] = Field(description="The open loans, the earliest due first.")


class Receipt(BaseModel):
    """What remains of a closed loan."""

    loan_id: str = Field(description="The loan that is closed.")
    copy_id: str = Field(description="The copy that came back.")
    days_overdue: int = Field(description="Days past the due date; 0 when in time.")
    keep_for: str | None = Field(description="The request for which to keep the copy; null when it goes to the shelf.")


class Pickup(BaseModel):
    """The member collects the work."""

    kind: Literal["pickup"] = Field(description="Always pickup.")
    branch: Branch = Field(description="Where the member collects it.")


class Post(BaseModel):
    """The work is posted to the member's home."""

    kind: Literal["post"] = Field(description="Always post.")
    street: str = Field(description="Street and house number.")
    city: str = Field(description="Postcode and city, such as 2100 Seaport.")


class Work(BaseModel):
    """What another library is asked for."""

    name: str = Field(description="The name on the cover.", min_length=1)
    author: str = Field(description="The author, first name first.", min_length=1)


class Order(BaseModel):
    """An order to another library."""

    member_id: MemberId
    work: Work = Field(description="The wanted work: name and author.")
    delivery: Annotated[
        Pickup | Post,
        Field(description="Where it goes: pickup at a branch, or post to an address.", discriminator="kind"),
    ]


class Request(BaseModel):
    """What a member waits for."""

    request_id: str = Field(description="Identifies the request, such as R-1.")
    member_id: str = Field(description="Who waits.")
    wanted: str = Field(description="The id of our own title, or name and author of another library's work.")
    goes_to: str = Field(description="The branch or the postal address.")
    place: int = Field(description="The place in the queue, from 1; always 1 for another library's work.")
    fee_cents: int = Field(description="What the member was charged.")


class Requests(BaseModel):
    """What one member waits for."""

    requests: list[Request] = Field(description="The waiting requests, the oldest first.")


@dataclass
class Book:
    """A title with its copies."""

    title_id: str
    name: str
    author: str
    subject: str
    copies: int

    @property
    def copy_ids(self) -> list[str]:
        """The ids of all copies, lent or not."""
        return [f"{self.title_id}/{number}" for number in range(1, self.copies + 1)]


@dataclass
class Desk:
    """Everything that the desk knows."""

    books: dict[str, Book]
    members: set[str]
    loans: dict[str, Loan] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def member(self, member_id: str) -> str:
        """The member's id, if there is such a member."""
        if member_id not in self.members:
            raise ToolError(f"there is no member {member_id!r}; read the number on the card")
        return member_id

    def book(self, title_id: str) -> Book:
        """The book with this title id."""
        if title_id not in self.books:
            raise ToolError(f"there is no title {title_id!r}; find it with search_titles")
        return self.books[title_id]

    def loans_of(self, member_id: str) -> list[Loan]:
        """A member's loans as of today, the earliest due first."""
        own = [self.as_of_today(loan) for loan in self.loans.values() if loan.member_id == member_id]
        return sorted(own, key=lambda loan: loan.due_on)

    def as_of_today(self, loan: Loan) -> Loan:
        """The loan with the days that it is overdue now."""
        return loan.model_copy(update={"days_overdue": max(0, (today() - loan.due_on).days)})

    def free_copies(self, book: Book) -> list[str]:
        """The copies that nobody has."""
        lent = {loan.copy_id for loan in self.loans.values()}
        return [copy_id for copy_id in book.copy_ids if copy_id not in lent]

    def queue(self, wanted: str) -> list[Request]:
        """Who waits for something, the first in line first."""
        waiting = [request for request in self.requests.values() if request.wanted == wanted]
        return [request.model_copy(update={"place": place}) for place, request in enumerate(waiting, start=1)]

    def placed(self, request: Request) -> Request:
        """The request with its place in the queue now; every order from another library has a queue of its own."""
        if request.wanted not in self.books:
            return request
        return next(each for each in self.queue(request.wanted) if each.request_id == request.request_id)

    def add_request(self, member_id: str, wanted: str, goes_to: str, fee_cents: int) -> Request:
        """A new request at the end of its queue."""
        request = Request(
            request_id=f"R-{next(self.numbers)}",
            member_id=member_id,
            wanted=wanted,
            goes_to=goes_to,
            place=1,
            fee_cents=fee_cents,
        )
        self.requests[request.request_id] = request
        return self.placed(request)


def today() -> date:
    """The date at the desk."""
    return datetime.now(UTC).date()


desk = Desk(
    books={
        book.title_id: book
        for book in (
            Book("T-1", "The Tide Tables", "Ada Morrow", "sea", 2),
            Book("T-2", "Bread Before Dawn", "Jonas Veld", "cooking", 1),
            Book("T-3", "A Field Guide to Harbors", "Ada Morrow", "sea", 1),
            Book("T-4", "Small Engines, Explained", "Ines Okafor", "technology", 3),
        )
    },
    members={"M-100", "M-200", "M-300"},
)

server = MCPServer(
    "lending-desk",
    title="Lending desk",
    version="1.0.0",
    instructions=(
        "The lending desk of a small library. Begin with search_titles; members are known by the number on their card."
    ),
)


Tool = TypeVar("Tool", bound=Callable[..., Any])


def offer(
    title: str, *, reads: bool = False, destroys: bool = False, repeats: bool = False, outside: bool = False
) -> Callable[[Tool], Tool]:
    """Offer a function as a tool: all four hints declared, the docstring without its line breaks as description."""

    def add(function: Tool) -> Tool:
        server.add_tool(
            function,
            title=title,
            description=" ".join((function.__doc__ or "").split()),
            annotations=ToolAnnotations(
                read_only_hint=reads, destructive_hint=destroys, idempotent_hint=repeats, open_world_hint=outside
            ),
        )
        return function

    return add


@offer("Search the library's own titles", reads=True, repeats=True)
async def search_titles(
    query: Annotated[
        str, Field(description="Words of name, author or subject, all of which must occur; case does not matter.")
    ],
    available_only: Annotated[  # noqa: FBT002  # tools are called by name
        bool, Field(description="Leave out titles of which every copy is lent.")
    ] = False,
    limit: Annotated[int, Field(description="The most titles to return.", ge=1, le=50)] = 10,
) -> Titles:
    """Search the library's own catalog for titles by words of their name, author or subject.

    Call it first: other tools need the title and copy ids that it returns. A work that it does not find belongs to
    another library; order that with request_interlibrary_loan instead. When nothing matches, the list is empty.
    """
    words = query.lower().split()
    found = [
        Title(
            title_id=book.title_id,
            name=book.name,
            author=book.author,
            subject=book.subject,
            free_copies=desk.free_copies(book),
        )
        for book in sorted(desk.books.values(), key=lambda book: book.name)
        if all(word in f"{book.name} {book.author} {book.subject}".lower() for word in words)
    ]
    matching = [title for title in found if title.free_copies or not available_only]
    return Titles(titles=matching[:limit], total=len(matching))


@offer("List what a member has borrowed", reads=True, repeats=True)
async def list_loans(
    member_id: MemberId,
    overdue_only: Annotated[  # noqa: FBT002  # tools are called by name
        bool, Field(description="Leave out the loans that are still in time.")
    ] = False,
) -> Loans:
    """List the copies that one member has on loan, with due dates and days overdue.

    Use it to find the loan id for close_loan, or before create_loan when the member may be at the limit of 5 loans. It
    does not show what the member waits for; use list_requests instead. Closed loans are not kept.
    """
    loans = desk.loans_of(desk.member(member_id))
    return Loans(loans=[loan for loan in loans if loan.days_overdue or not overdue_only])


@offer("List what a member waits for", reads=True, repeats=True)
async def list_requests(member_id: MemberId) -> Requests:
    """List what one member is waiting for: our own titles and orders from other libraries, with the place in the queue.

    Use it to find the request id for cancel_request, or when the member asks how long it will take. It does not show
    copies that are already in the member's hands; use list_loans instead.
    """
    own = [request for request in desk.requests.values() if request.member_id == desk.member(member_id)]
    return Requests(requests=[desk.placed(request) for request in own])


@offer("Lend a copy to a member")
async def create_loan(
    copy_id: Annotated[str, Field(description="A free copy as search_titles returns it, such as T-1/2.")],
    member_id: MemberId,
) -> Loan:
    """Lend one copy to a member for 21 days.

    Use it when a copy stands on the shelf; when all are lent, use request_title instead. The member's own request for
    the title, if there is one, is fulfilled and removed. Fails, and changes nothing, when the copy is lent or kept for
    somebody who waits, or when the member has 5 loans or an overdue one.
    """
    loans = desk.loans_of(desk.member(member_id))
    if len(loans) >= MAX_LOANS or any(loan.days_overdue for loan in loans):
        raise ToolError(f"{member_id} has {len(loans)} loans, or an overdue one; close a loan first")
    book = desk.book(copy_id.partition("/")[0])
    free = desk.free_copies(book)
    if copy_id not in free:
        raise ToolError(f"{copy_id!r} is lent or does not exist; free copies: {', '.join(free) or 'none'}")
    queue = desk.queue(book.title_id)
    own = next((request for request in queue if request.member_id == member_id), None)
    if (own.place if own else len(queue) + 1) > len(free):
        raise ToolError(f"{copy_id!r} is kept for a member who waits; place a request with request_title")
    if own:
        del desk.requests[own.request_id]
    loan = Loan(
        loan_id=f"L-{next(desk.numbers)}",
        copy_id=copy_id,
        member_id=member_id,
        due_on=today() + timedelta(days=LOAN_DAYS),
        days_overdue=0,
    )
    desk.loans[loan.loan_id] = loan
    return loan


@offer("Take back a lent copy", destroys=True)
async def close_loan(
    loan_id: Annotated[str, Field(description="The loan as list_loans returns it, such as L-1.")],
) -> Receipt:
    """Close a loan when its copy is back at the desk.

    The loan is removed permanently: only the receipt says how many days it was overdue, and for which request to keep
    the copy. Use list_loans to find the id. To give up something that was never lent, use cancel_request instead.
    """
    if loan_id not in desk.loans:
        raise ToolError(f"there is no open loan {loan_id!r}; find it with list_loans")
    loan = desk.as_of_today(desk.loans.pop(loan_id))
    queue = desk.queue(loan.copy_id.partition("/")[0])
    return Receipt(
        loan_id=loan.loan_id,
        copy_id=loan.copy_id,
        days_overdue=loan.days_overdue,
        keep_for=queue[0].request_id if queue else None,
    )


@offer("Queue a member for one of our titles", repeats=True)
async def request_title(
    title_id: Annotated[str, Field(description="One of our titles as search_titles returns it, such as T-1.")],
    member_id: MemberId,
    branch: Annotated[Branch, Field(description="Where the member will collect the copy.")],
) -> Request:
    """Put a member on the waiting list for a title of our own catalog, free of charge.

    Use it when search_titles shows no free copy; when there is one, use create_loan instead. Asking again for the same
    title keeps the existing request and its place. Works of other libraries need request_interlibrary_loan.
    """
    book, member_id = desk.book(title_id), desk.member(member_id)
    own = next((request for request in desk.queue(title_id) if request.member_id == member_id), None)
    return own or desk.add_request(member_id, book.title_id, branch, 0)


@offer("Order a work from another library", outside=True)
async def request_interlibrary_loan(
    order: Annotated[Order, Field(description="Who wants which work, and where it goes: `pickup` or `post`.")],
) -> Request:
    """Order a work that our catalog does not have from another library, for pickup or by post.

    Use it only when search_titles finds nothing; for a title of our own, use request_title instead, which is free and
    asks for less. With each call the member is charged 300 cents at once, which cancel_request does not refund.
    """
    member_id, delivery = desk.member(order.member_id), order.delivery
    goes_to = delivery.branch if isinstance(delivery, Pickup) else f"{delivery.street}, {delivery.city}"
    return desk.add_request(member_id, f"{order.work.name} by {order.work.author}", goes_to, ORDER_FEE_CENTS)


@offer("Cancel what a member waits for", destroys=True)
async def cancel_request(
    request_id: Annotated[str, Field(description="The request as list_requests returns it, such as R-1.")],
) -> Request:
    """Cancel a waiting request, for our own title or for another library's work.

    The place in the queue is lost and cannot be restored, and a fee stays charged. Use list_requests to find the id.
    It does not take back a copy that is already lent; use close_loan instead. Returns the request as it was.
    """
    if request_id not in desk.requests:
        raise ToolError(f"there is no waiting request {request_id!r}; find it with list_requests")
    request = desk.placed(desk.requests[request_id])
    del desk.requests[request_id]
    return request


@server.resource(
    "desk://rules", title="Lending rules", description="Loan period, limits and fees.", mime_type="text/markdown"
)
def rules() -> str:
    """The rules that hang on the wall."""
    return (
        f"- A loan lasts {LOAN_DAYS} days.\n"
        f"- A member has at most {MAX_LOANS} loans, and gets no new one while one is overdue.\n"
        f"- Another library's work costs {ORDER_FEE_CENTS} cents.\n"
    )


@server.prompt(title="Serve a member", description="Find out what a member needs, and do it.")
def serve_member(
    member_id: Annotated[str, Field(description="The number on the member's card, such as M-100.")],
    wish: Annotated[str, Field(description="What the member asks for, in their own words.")],
) -> str:
    """The instruction to an agent that works at the desk."""
    return (
        f"Member {member_id} asks: {wish}\n\nList their loans and requests first, read desk://rules, "
        "then do what they ask. Ask back before anything that costs a fee or cannot be restored."
    )


def main() -> None:
    """Serve over stdio, or over HTTP where a port is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve streamable HTTP on this port of 127.0.0.1")
    port = parser.parse_args().http
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
