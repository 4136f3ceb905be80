"""Tables of rods: quadrature points of their elements, shape functions, stresses (docs/theory.md, 8)."""

from phlexible.tables.table import Kind, Table, Writer, tables_of

ROD_TABLES: tuple[Table, ...] = (
    *tables_of(
        Kind.COUNT,
        Writer.SYSTEM,
        """
        rod_points      | 1 | | quadrature points of rods
        rod_strains     | 1 | | of each
        rod_nodes       | 1 | | sections of all these points
        rod_pairs       | 1 | | pairs of sections of all these points
        """,
    ),
    *tables_of(
        Kind.INTEGER,
        Writer.SYSTEM,
        """
        rod_first         | rod_points | | first section
        rod_count         | rod_points | | how many
        rod_force         | rod_points | | force of its first strain
        rod_pair          | rod_points | | first pair
        rod_node          | rod_nodes | | frame
        rod_block         | rod_pairs | | block (section, other section)
        """,
    ),
    *tables_of(
        Kind.REAL,
        Writer.SYSTEM,
        """
        rod_value         | rod_nodes | | N_k
        rod_slope         | rod_nodes | 1/m | S_k = dN_k/ds
        """,
    ),
    *tables_of(Kind.MATRIX, Writer.SYSTEM, "rod_share | 3 rod_points | | L_1, L_2, L_3"),
    *tables_of(
        Kind.REAL,
        Writer.STEP,
        """
        rod_stress        | 6 rod_points | | F of the laws; zero where there is none
        rod_stiffness     | 6 rod_points | | dF/dtheta_{n+1}
        """,
    ),
    *tables_of(
        Kind.VECTOR,
        Writer.STEP,
        """
        rod_along0        | rod_points | | X' at the start of the step
        rod_change        | rod_points | | its change
        rod_pull          | 2 rod_points | N, N m | L F: along Gamma, along K
        """,
    ),
    *tables_of(
        Kind.MATRIX,
        Writer.STEP,
        """
        rod_directors0    | 2 rod_points | | D and D' at the start of the step
        rod_turn          | 2 rod_points | | their changes
        rod_left          | 9 one | | gradients of the strains of one point
        """,
    ),
)
