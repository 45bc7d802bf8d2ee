"""English words whose forms no suffix rule joins: ``went`` is found by ``go``, ``children`` by ``child``.

Snowball cuts suffixes and knows nothing of these; on conversations they cost a point of recall. What must never
happen here: synonyms. Two forms of one word mean the same; two words do not.
"""

from __future__ import annotations

_GROUPS = """
be was were been am is are; become became; begin began begun; bend bent; bite bit bitten; blow blew blown;
break broke broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught;
choose chose chosen; come came; creep crept; deal dealt; dig dug; do did done; draw drew drawn; dream dreamt;
drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought;
find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone; grind ground;
grow grew grown; hang hung; have had has; hear heard; hide hid hidden; hold held; keep kept; kneel knelt;
know knew known; lay laid; lead led; lean leant; leap leapt; learn learnt; leave left; lend lent; lie lain;
light lit; lose lost; make made; mean meant; meet met; mow mown; pay paid; prove proven; ride rode ridden;
ring rang rung; rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn;
shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk;
sit sat; sleep slept; slide slid; smell smelt; speak spoke spoken; speed sped; spend spent; spill spilt;
spin spun; spoil spoilt; stand stood; steal stole stolen; stick stuck; sting stung; strike struck stricken;
strive strove striven; swear swore sworn; sweep swept; swell swollen; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
understand understood; undertake undertook undertaken; wake woke woken; wear wore worn; weave wove woven;
weep wept; win won; wind wound; withdraw withdrew withdrawn; write wrote written;
child children; man men; woman women; person people; foot feet; tooth teeth; goose geese; mouse mice; wife wives;
life lives; knife knives; leaf leaves; half halves; shelf shelves; loaf loaves; thief thieves; wolf wolves;
analysis analyses; crisis crises; criterion criteria; phenomenon phenomena; hypothesis hypotheses
"""

#: Inflected form → base form, both casefolded.
BASE_FORM: dict[str, str] = {
    form: base for base, *forms in (group.split() for group in _GROUPS.replace("\n", " ").split(";")) for form in forms
}
