"""Tables of soft bodies: elements, their laws, surfaces under pressure (docs/theory.md, 5)."""

from phlexible.tables.table import Kind, Table, Writer, tables_of

SOFT_TABLES: tuple[Table, ...] = (
    *tables_of(
        Kind.COUNT,
        Writer.SYSTEM,
        """
        soft_groups     | 1 | | groups of elements of soft bodies with one law
        soft_functions  | 1 | | of invariants, three a group
        soft_elements   | 1 | | of all soft bodies
        soft_nodes      | 1 | | of all elements
        soft_points     | 1 | | quadrature points of all elements
        soft_slopes     | 1 | | shape functions at quadrature points of all elements
        soft_pairs      | 1 | | pairs of nodes of all elements
        faces           | 1 | | of surfaces under pressure
        face_nodes      | 1 | | of all faces
        face_pairs      | 1 | | pairs of nodes of all faces
        face_numbers    | 1 | | shape functions at quadrature points of all kinds of faces
        """,
    ),
    *tables_of(
        Kind.INTEGER,
        Writer.SYSTEM,
        """
        soft_law          | soft_groups | | QUADRATIC or INVARIANTS
        soft_sheet        | soft_groups | | 1: a sheet, C_33 = 1
        soft_function     | soft_functions | | of tr C, tr cof C, det C: NOTHING .. OF_USER
        soft_energy       | soft_functions | | address of a user's function
        soft_derivative   | soft_functions | | address of its derivative
        soft_group        | soft_elements | |
        soft_first        | soft_elements | | first of its nodes
        soft_count        | soft_elements | | how many
        soft_point        | soft_elements | | first quadrature point
        soft_point_count  | soft_elements | | how many
        soft_slope        | soft_elements | | first shape function at its first point
        soft_pair         | soft_elements | | first pair
        soft_node         | soft_nodes | | carrier
        soft_block        | soft_pairs | | block (node, other node)
        load_face         | loads | | first face of a pressure
        load_face_count   | loads | | how many
        face_first        | faces | | first of its nodes
        face_count        | faces | | how many
        face_point_count  | faces | | quadrature points
        face_shape        | faces | | first shape function at its first point
        face_pair         | faces | | first pair
        face_node         | face_nodes | | carrier
        face_block        | face_pairs | | block (node, other node)
        """,
    ),
    *tables_of(
        Kind.REAL,
        Writer.SYSTEM,
        """
        soft_lame         | soft_groups | Pa | of small strains
        soft_shear        | soft_groups | Pa |
        soft_viscosity    | soft_groups | s | tau
        soft_first_number | soft_functions | Pa | of the function
        soft_second_number | soft_functions | Pa |
        soft_weight       | soft_points | m3 | undeformed volume
        """,
    ),
    *tables_of(
        Kind.VECTOR,
        Writer.SYSTEM,
        """
        soft_gradient     | soft_slopes | 1/m | of a shape function, undeformed axes
        face_number       | face_numbers | | weight times N, N,1 and N,2 along reference coordinates
        """,
    ),
    *tables_of(
        Kind.REAL,
        Writer.STEP,
        """
        soft_work         | 2 one | J | that elements store in the step, and the sum of its sizes
        soft_loss         | one | J | that they lose
        soft_tangent      | 36 one | Pa | dS/dE of one point, column by column
        """,
    ),
)
