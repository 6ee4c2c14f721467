"""Words that users say for one thing, a group a line. English, data only."""

GROUPS = """
get fetch retrieve obtain
list enumerate show
search find look
read open view
create make add
insert put append
update change modify edit
delete remove erase
send deliver transmit
run execute launch
start begin launch
stop halt end
move relocate shift
copy duplicate clone
upload put push
download pull fetch
check verify test
validate verify check
convert transform turn
generate produce make
calculate compute work
analyze examine study
query ask search
set assign define
rename relabel retitle
cancel abort revoke
close finish end
submit send file
subscribe follow join
assign give allocate
compare contrast diff
describe explain detail
resolve settle determine
navigate go visit
click press tap
write save store
file document
directory folder
path location place
repository repo codebase
issue ticket bug
user person member
message note text
channel room group
page site website
url link address
image picture photo
video clip film
customer client buyer
order purchase
invoice bill
payment charge transaction
product item article
price cost quote
stock share equity
task todo job
project workspace
event appointment meeting
calendar schedule agenda
contact person
email mail
comment remark reply
label tag
branch line
commit revision
pull merge
database store
table relation
row record entry
column field
schema structure layout
key identifier
value content
log journal
error failure fault
metric measure number
report summary overview
chart graph plot
dashboard board overview
alert warning notification
server host machine
container instance
cluster group fleet
node host
deployment release rollout
service backend
config settings options
configuration settings options
environment stage
version release
package library module
dependency requirement
function routine
class type
symbol name
code source
script program
weather climate
forecast outlook prediction
city town
country nation
location place
map chart
distance length
route way directions
flight plane trip
hotel room stay
news headlines stories
article story
paper publication study
author writer
book title
song track music
playlist music
movie film
game match
team squad group
player athlete
score result points
question query
answer reply
translation version
language tongue
word term
text words
number figure
date day
time hour clock
history past
status state condition
info details facts
information details facts
data records facts
detail specifics
stats figures numbers
statistics figures numbers
account profile
profile account
token credential
password secret
permission right access
role function
session visit
browser window
screenshot capture
tab window
form sheet
button control
template pattern
sheet spreadsheet
document file paper
note memo
memory recollection
knowledge facts
entity thing
relation link
graph network
vector embedding
model network
prompt instruction
agent assistant
tool utility
resource asset
asset resource
domain site
record entry
zone area
policy rule
rule policy
budget limit
campaign promotion
ad promotion
keyword term
category kind
collection set
list overview
filter condition
wallet purse
balance funds
transaction transfer
block unit
contract agreement
coin currency
exchange market
trade deal
position holding
portfolio holdings
company firm business
organization company
department division
employee worker staff
job position
candidate applicant
lead prospect
opportunity chance
deal sale
pipeline process
workflow process
step stage
trigger cause
action deed
plan scheme
goal target
test check
bug defect
patch fix
change modification
diff difference
review assessment
build compilation
artifact output
image picture
volume disk
backup copy
snapshot copy
queue line
topic subject
cache buffer
"""
"""The first word of a line is what a name says, the others are what a user may say instead, the nearest first."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    words[0]: tuple(words[1:]) for line in reversed(GROUPS.split("\n")) if (words := line.split())
}
"""A word that opens two lines has the first of them."""
