"""Tables of contacts among many: spheres and pieces of lines, and which of them are near (docs/theory.md, 8)."""

from phlexible.tables.table import Kind, Table, Writer, tables_of

CROWD_TABLES: tuple[Table, ...] = (
    *tables_of(
        Kind.COUNT,
        Writer.SYSTEM,
        """
        crowds          | 1 | | contacts among many, each with one law
        members         | 1 | | spheres and pieces of lines of all of them
        near_pairs      | 1 | | most pairs that are listed
        """,
    ),
    *tables_of(
        Kind.INTEGER,
        Writer.SYSTEM,
        """
        member_crowd      | members | |
        member_side       | members | | 1: meets those of side 2, 2: those of side 1, 3: all
        member_body       | members | | members of one body do not meet
        member_start      | members | | vector
        member_end        | members | | vector; of a sphere the same
        """,
    ),
    *tables_of(
        Kind.REAL,
        Writer.SYSTEM,
        """
        member_radius     | members | m |
        crowd_skin        | crowds | m | members may move by it before pairs are looked for again
        crowd_stiffness   | crowds | | N/m, or N/m^1.5
        crowd_damping     | crowds | | after Hunt and Crossley
        crowd_exponent    | crowds | | 1 or 1.5
        """,
    ),
    *tables_of(
        Kind.INTEGER,
        Writer.STEP,
        """
        near_known        | one | | 1: pairs have been looked for
        near_count        | one | | how many are listed; -1: more than there is room for, all are looked at
        near_first        | near_pairs | | member, the lower number
        near_second       | near_pairs | |
        near_found        | 2 near_pairs | | pairs in the order in which they were found
        near_place        | members | | of the first pair of a member
        near_order        | members | | members along the axis of the sweep
        met_count         | one | | pairs that push at either end of the step
        met_first         | near_pairs | |
        met_second        | near_pairs | |
        """,
    ),
    *tables_of(
        Kind.VECTOR,
        Writer.STEP,
        """
        near_low          | members | m | corners of boxes in which the axes may move, pairs known
        near_high         | members | m |
        """,
    ),
    *tables_of(
        Kind.REAL,
        Writer.STEP,
        """
        crowd_work        | 2 one | J | that contacts among many store in the step, and the sum of its sizes
        crowd_loss        | one | J | that they lose
        crowd_row         | widest | | how a normal force enters the balance of a carrier
        """,
    ),
)
