/* What model.h declares, over the compiled step and the data of one model (model_data.h, written for each). */

#define PH_BUILDS
#include "model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PH_ALIGNED __attribute__((aligned(64)))
#include "model_data.h"

#define NEVER INT64_MAX
#define BLOCK 16      /* steps that the compiled loop takes at a time */
#define PLACES 64     /* tables begin where cache lines do */
#define SNAP 1e-9     /* of a step: as good as whole */
#define MOST_HALVINGS 20
#define PATIENCE 4 /* pieces of one size that succeed before longer ones are tried */
#define MOST_PIECES 1024 /* of one step: somebody waits for it */
#define MAGIC 0x70686c6578696231ull
#define TABLES_MAGIC 0x7068746162316c73ull
#define FNV 0x100000001b3ull
#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { CONVERGED, NOT_CONVERGED, SINGULAR, TOUCHING }; /* statuses of the compiled loop */

/* Numba's runtime asks for it where arrays end; there are none here. */
#if !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
void NRT_MemInfo_call_dtor(void *information) { (void)information; }

/* Size of the last piece of a step [s], NaN before the first; whether the next step goes on with that; how often steps
   are halved before they are tried, and how many pieces succeeded since; whether any piece was taken. */
typedef struct ph_sizes {
    double last;
    int32_t continues, depth, successes, has_begun;
} ph_sizes;

struct ph_model {
    int64_t *header;       /* of the tables: counts and addresses */
    double *numbers;       /* tables that change, the state first */
    double *inputs;        /* values of all inputs, one after the other */
    double *control;       /* what controllers hold, angles over full turns, what each remembers */
    double *parameters;    /* values of all */
    double *moving, *loads; /* functions of time over some steps */
    double *reactions;     /* of the first of them */
    double *row;           /* receives the state where it is asked for */
    double *saved;         /* the state before a step that is halved, what is controlled, and the state before a piece */
    const uint64_t *tables, *start; /* of the model, or what was loaded */
    const double *reals;   /* of what is measured */
    uint64_t identity;     /* of the model with these */
    double *scratch;       /* places, rates and numbers that are measured */
    double *aside;         /* the state while steps are tried, what is controlled, and accelerations */
    int64_t *addresses;    /* tables of functions of users, which are given by their numbers */
    uint64_t *own;         /* tables, start and numbers that follow from parameters */
    double *products;      /* of polynomials of the parameters */
    double origin;         /* of the grid of instants [s] */
    int64_t steps;         /* taken on it */
    ph_sizes sizes;
    int32_t status, is_measured, is_accelerated;
};

/* Functions of time. */

static double wave(const double *reals, const ph_column *c, double t, int is_rate) {
    double found = 0.0;
    for (int k = 0; k < c->waves; k++) {
        const double *w = reals + c->wave + 3 * k; /* frequency, of the cosine, of the sine */
        double x = w[0] * t;
        found += is_rate ? w[0] * (w[2] * cos(x) - w[1] * sin(x)) : w[1] * cos(x) + w[2] * sin(x);
    }
    return found;
}

/* A polynomial of ascending powers of the time from where its piece begins, over the piece's length. */
static double piece(const double *reals, const ph_column *c, double t, int is_rate) {
    int low = 0, high = c->pieces - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (reals[ph_pieces[c->first_piece + middle].begin] <= t) low = middle;
        else high = middle - 1;
    }
    const ph_piece *p = ph_pieces + c->first_piece + low;
    const double *own = reals + p->begin, scale = own[1], *a = own + 2;
    double x = (t - own[0]) * scale, value = 0.0, rate = 0.0;
    for (int k = p->count - 1; k >= 0; k--) {
        rate = rate * x + value;
        value = value * x + a[k];
    }
    return is_rate ? rate * scale : value;
}

static double column(const double *reals, const ph_column *c, double t, int is_rate) {
    double found = c->waves ? wave(reals, c, t, is_rate) : 0.0;
    return c->pieces ? found + piece(reals, c, t, is_rate) : found;
}

/* Given vectors and paths, three numbers each; of the path p of a drive cos p, sin p and p. */
static void moving_values(const double *reals, double t, double *values, int is_rate) {
    for (int k = 0; k < PH_MOVING; k++) {
        const ph_column *c = ph_moving_columns + 3 * k;
        double *v = values + 3 * k;
        if (ph_is_path[k]) {
            double p = column(reals, c + 2, t, 0);
            v[0] = cos(p), v[1] = sin(p), v[2] = p;
            if (is_rate) {
                double dp = column(reals, c + 2, t, 1), cosine = v[0];
                v[0] = -v[1] * dp, v[1] = cosine * dp, v[2] = dp;
            }
            continue;
        }
        for (int i = 0; i < 3; i++) v[i] = column(reals, c + i, t, is_rate);
    }
}

static void load_values(const ph_model *m, double t, double *values) {
    for (int k = 0; k < 3 * PH_LOADS; k++) values[k] = column(m->reals, ph_load_columns + k, t, 0);
    const double *given = m->inputs;
    for (int i = 0; i < PH_INPUTS; i++)
        for (int k = 0; k < ph_inputs[i].size; k++, given++)
            values[ph_inputs[i].place + k] += *given - ph_inputs[i].start[k];
    for (int k = 0; k < (PH_CONTROLLERS ? 3 * PH_LOADS : 0); k++) values[k] += m->control[k];
}

/* Where things are: the instance, then what changes, each part where a cache line begins. */

enum { AT_HEADER, AT_NUMBERS, AT_INPUTS, AT_MOVING, AT_LOADS, AT_REACTIONS, AT_ROW, AT_SAVED, AT_SCRATCH, AT_ASIDE,
       AT_ADDRESSES, AT_OWN, AT_PRODUCTS, AT_END };

/* Bytes before a part. */
static size_t offset(int part) {
    static const size_t counts[] = {
        PH_HEADER, PH_NUMBERS, PH_INPUT_NUMBERS + PH_CONTROL + PH_PARAMETERS, (size_t)3 * PH_MOVING * (PH_MOST_INSTANTS + 1),
        (size_t)3 * PH_LOADS * PH_MOST_INSTANTS, PH_REACTIONS, PH_ROOM, 2 * PH_STATE + PH_CONTROL, PH_SCRATCH,
        PH_ACCELERATIONS ? PH_STATE + PH_CONTROL + 2 * PH_ACCELERATIONS : 0, PH_ADDRESSES,
        PH_PARAMETERS ? (size_t)PH_TABLE_WORDS + PH_STATE + PH_REALS : 0, PH_PRODUCTS,
    };
    size_t used = (sizeof(ph_model) + PLACES - 1) / PLACES * PLACES;
    for (int k = 0; k < part; k++) used += (8 * counts[k] + PLACES) / PLACES * PLACES;
    return used;
}

/* Of what was measured: the state changes. */
static void forget(ph_model *m) { m->is_measured = m->is_accelerated = 0; }

static int finite_number(double x) { return x - x == 0.0; }
static int known(int number, int count) { return number >= 0 && number < count; }

const char *ph_name(void) { return PH_NAME; }
const char *ph_version(void) { return PH_VERSION; }
double ph_step_size(void) { return PH_STEP; }
int ph_input_count(void) { return PH_INPUTS; }
int ph_output_count(void) { return PH_OUTPUTS; }
const char *ph_input_name(int k) { return known(k, PH_INPUTS) ? ph_inputs[k].name : 0; }
const char *ph_input_unit(int k) { return known(k, PH_INPUTS) ? ph_inputs[k].unit : 0; }
int ph_input_size(int k) { return known(k, PH_INPUTS) ? ph_inputs[k].size : -1; }
const char *ph_output_name(int k) { return known(k, PH_OUTPUTS) ? ph_outputs[k].name : 0; }
const char *ph_output_unit(int k) { return known(k, PH_OUTPUTS) ? ph_outputs[k].unit : 0; }
int ph_output_size(int k) { return known(k, PH_OUTPUTS) ? ph_outputs[k].size : -1; }
int ph_parameter_count(void) { return PH_PARAMETERS; }
const char *ph_parameter_name(int k) { return known(k, PH_PARAMETERS) ? ph_parameters[k].name : 0; }
const char *ph_parameter_unit(int k) { return known(k, PH_PARAMETERS) ? ph_parameters[k].unit : 0; }
int ph_parameter_is_tunable(int k) { return known(k, PH_PARAMETERS) ? ph_parameters[k].is_tunable : -1; }

int ph_parameter_range(int k, double *low, double *usual, double *high) {
    if (!known(k, PH_PARAMETERS) || !low || !usual || !high) return PH_WRONG_ARGUMENT;
    *low = ph_parameters[k].low, *usual = ph_parameters[k].usual, *high = ph_parameters[k].high;
    return PH_OK;
}

size_t ph_size(void) { return offset(AT_END) + PLACES; }

#if PH_PARAMETERS > 0
/* Tables, start and other numbers for the parameters as they are: each that they change is a sum of products of powers;
   with usual parameters all are those of the model. */
static void follow_parameters(ph_model *m) {
    double *factor = m->products, *product = factor + PH_FACTORS;
    int is_usual = 1;
    for (int k = 0; k < PH_PARAMETERS; k++) is_usual &= m->parameters[k] == ph_parameters[k].usual;
    memcpy(m->own, ph_tables, 8 * (size_t)PH_TABLE_WORDS);
    memcpy(m->own + PH_TABLE_WORDS, ph_start, 8 * (size_t)PH_STATE);
    memcpy(m->own + PH_TABLE_WORDS + PH_STATE, ph_reals, 8 * (size_t)PH_REALS);
    if (is_usual) return;
    memset(m->own + PH_TABLE_WORDS + PH_PLACE_reaction, 0, 8 * (size_t)PH_REACTIONS); /* which follow no powers */
    for (int k = 0; k < PH_FACTORS; k++) {
        const ph_factor *own = ph_factors + k;
        double x = m->parameters[own->parameter] / own->size;
        factor[k] = own->exponent != 0.0 ? pow(x, own->exponent) : sin(x + own->phase);
    }
    for (int k = 0; k < PH_TERMS; k++) {
        product[k] = 1.0;
        for (int j = ph_term_start[k]; j < ph_term_start[k + 1]; j++) product[k] *= factor[ph_term_factor[j]];
    }
    for (int k = 0; k < PH_CHANGED; k++) {
        double found = 0.0;
        for (int j = ph_changed_start[k]; j < ph_changed_start[k + 1]; j++)
            found += ph_changed_weight[j] * product[ph_changed_term[j]];
        memcpy(m->own + ph_changed_place[k], &found, sizeof found);
    }
}
#endif

static void with_tables(ph_model *m, const uint64_t *tables, const uint64_t *start, const double *reals,
                        uint64_t identity) {
    m->tables = tables, m->start = start, m->reals = reals, m->identity = identity;
    memcpy(m->header, ph_header, sizeof ph_header);
    for (int k = 0; k < PH_GIVEN_TABLES; k++) m->header[ph_given[k]] += (int64_t)(intptr_t)tables;
    for (int k = 0; k < PH_OWN_TABLES; k++) m->header[ph_own[k]] += (int64_t)(intptr_t)m->numbers;
#if PH_USERS > 0
    int64_t *to = m->addresses;
    for (int k = 0; k < PH_ADDRESS_TABLES; k++) {
        const int64_t *from = (const int64_t *)(intptr_t)m->header[ph_address_place[k]];
        m->header[ph_address_place[k]] = (int64_t)(intptr_t)to;
        for (int i = 0; i < ph_address_count[k]; i++)
            to[i] = from[i] > 0 && from[i] <= PH_USERS ? (int64_t)(intptr_t)ph_users[from[i] - 1] : 0;
        to += (ph_address_count[k] + 7) / 8 * 8;
    }
#endif
    ph_connect(m->header);
    ph_reset(m);
}

ph_model *ph_place(void *memory) {
    ph_model *m = (ph_model *)memory;
    if (!m) return 0;
    memset(m, 0, sizeof *m);
    char *base = (char *)memory + (PLACES - (uintptr_t)memory % PLACES) % PLACES;
    m->header = (int64_t *)(void *)(base + offset(AT_HEADER));
    m->numbers = (double *)(void *)(base + offset(AT_NUMBERS));
    m->inputs = (double *)(void *)(base + offset(AT_INPUTS));
    m->control = m->inputs + PH_INPUT_NUMBERS;
    m->parameters = m->control + PH_CONTROL;
    m->moving = (double *)(void *)(base + offset(AT_MOVING));
    m->loads = (double *)(void *)(base + offset(AT_LOADS));
    m->reactions = (double *)(void *)(base + offset(AT_REACTIONS));
    m->row = (double *)(void *)(base + offset(AT_ROW));
    m->saved = (double *)(void *)(base + offset(AT_SAVED));
    m->scratch = (double *)(void *)(base + offset(AT_SCRATCH));
    m->aside = (double *)(void *)(base + offset(AT_ASIDE));
    m->addresses = (int64_t *)(void *)(base + offset(AT_ADDRESSES));
    m->own = (uint64_t *)(void *)(base + offset(AT_OWN));
    m->products = (double *)(void *)(base + offset(AT_PRODUCTS));
#if PH_PARAMETERS > 0
    for (int k = 0; k < PH_PARAMETERS; k++) m->parameters[k] = ph_parameters[k].usual;
    follow_parameters(m);
    const uint64_t *start = m->own + PH_TABLE_WORDS;
    with_tables(m, m->own, start, (const double *)(const void *)(start + PH_STATE), PH_IDENTITY);
#else
    with_tables(m, ph_tables, ph_start, ph_reals, PH_IDENTITY);
#endif
    return m;
}

int ph_load_tables(ph_model *m, const void *tables, size_t size) {
    const uint64_t *head = (const uint64_t *)tables, *words = head + 4;
    uint64_t found = TABLES_MAGIC;
    size_t count = (size_t)PH_TABLE_WORDS + PH_STATE + PH_REALS;
    if (!m || !tables || (uintptr_t)tables % 8) return PH_WRONG_ARGUMENT;
    if (PH_PARAMETERS) return PH_WRONG_STATE; /* its numbers follow from parameters */
    if (size != 8 * (count + 4) || head[0] != TABLES_MAGIC || head[2] != count) return PH_WRONG_STATE;
    if (head[1] != PH_STRUCTURE) return PH_WRONG_STATE;
    for (size_t k = 0; k < count; k++) found = (found ^ words[k]) * FNV;
    if (found != head[3]) return PH_WRONG_STATE;
    const uint64_t *start = words + PH_TABLE_WORDS;
    with_tables(m, words, start, (const double *)(const void *)(start + PH_STATE), PH_IDENTITY ^ found);
    return PH_OK;
}

int ph_begin_at(ph_model *m, double time) {
    if (!m || m->sizes.has_begun || !finite_number(time)) return PH_WRONG_ARGUMENT;
    if (time != PH_ORIGIN && !PH_IS_STEADY) return PH_OVER;
    m->origin = time;
    return PH_OK;
}

#if PH_CONTROLLERS > 0
/* Of the numbers that a controller remembers: three of its clock, its last input, states, values to come. */
static int memory_of(const ph_controller *c) { return 3 + c->count + c->order + c->queue * c->size; }
#endif

/* Tables that change, from a state and zeros. */
static void begin_from(ph_model *m, const void *state) {
    memset(m->numbers, 0, 8 * (size_t)PH_NUMBERS);
    memcpy(m->numbers, state, 8 * (size_t)PH_STATE);
}

static void begin_at(ph_model *m, double time);

/* The state at the start; inputs and the time stay. */
static void start_again(ph_model *m) {
    begin_from(m, m->start);
    memset(m->control, 0, 8 * (size_t)PH_CONTROL);
#if PH_CONTROLLERS > 0
    for (int k = 0; k < PH_TURNS; k++) m->control[3 * PH_LOADS + k] = NAN;
    double *memory = m->control + 3 * PH_LOADS + PH_TURNS;
    for (int k = 0; k < PH_CONTROLLERS; memory += memory_of(ph_controllers + k), k++) *memory = NAN;
#endif
    m->status = PH_OK;
    m->sizes = (ph_sizes){NAN, 0, 0, 0, 0};
#if PH_PARAMETERS > 0
    begin_at(m, m->origin); /* energies, which follow no parameter */
#endif
    forget(m);
}

int ph_reset(ph_model *m) {
    if (!m) return PH_WRONG_ARGUMENT;
    double *given = m->inputs;
    for (int i = 0; i < PH_INPUTS; i++)
        for (int k = 0; k < ph_inputs[i].size; k++) *given++ = ph_inputs[i].start[k];
    m->origin = PH_ORIGIN;
    m->steps = 0;
    start_again(m);
    return PH_OK;
}

/* Steps. */

static double instant(const ph_model *m, int64_t steps) { return m->origin + (double)steps * PH_STEP; }

static int advance(ph_model *m, ph_request *asked, const double *sizes, int substeps, int64_t count, int64_t *found) {
    asked->steps = count;
    int64_t instants = count * substeps;
    int64_t rows = count ? 0 : 1; /* the state as it is */
    return ph_k_advance(m->header, PH_HEADER, (void *)sizes, substeps, asked, 1, m->moving,
                        (instants + 1) * 3 * PH_MOVING, m->loads, instants * 3 * PH_LOADS, m->reactions, PH_REACTIONS,
                        m->row, rows * PH_ROW, found);
}

/* Functions of time in a substep from ``begin`` on, of which the first so many are known. */
static void prescribe(ph_model *m, double begin, double end, double middle, int64_t number) {
    if (!number) moving_values(m->reals, begin, m->moving, 0);
    moving_values(m->reals, end, m->moving + 3 * PH_MOVING * (number + 1), 0);
    load_values(m, middle, m->loads + 3 * PH_LOADS * number);
}

/* One or more steps of one size in parts of it; how many, and the status of the last. */
static int64_t entered(ph_model *m, const double *sizes, int parts, int64_t count, double longest, int is_around,
                       int64_t *state) {
    ph_request asked = PH_REQUEST;
    asked.least_speed = m->reals[PH_REALS - 2] / longest;
    asked.error_length = m->reals[PH_REALS - 1];
    asked.continues = m->sizes.continues != 0;
    asked.is_around_contacts = is_around != 0;
    int64_t found[2] = {0, NOT_CONVERGED};
    double *forces = m->numbers + PH_PLACE_reaction;
    if (!m->sizes.has_begun) memset(forces, 0, 8 * (size_t)PH_REACTIONS); /* Newton's method starts as in live runs */
    if (advance(m, &asked, sizes, parts, count, found)) found[0] = 0, found[1] = NOT_CONVERGED;
    *state = found[1];
    if (found[0]) m->sizes.continues = m->sizes.has_begun = 1, forget(m);
    else if (!m->sizes.has_begun) memcpy(forces, m->start + PH_PLACE_reaction, 8 * (size_t)PH_REACTIONS);
    return found[0];
}

/* Functions of time in a step of a size in equal parts of its substeps, from the instant ``number`` on, and their
   sizes. */
static void prescribe_step(ph_model *m, double begin, double end, double size, int parts, int64_t number,
                           double *sizes) {
    double before = 0.0;
    int count = parts * PH_SUBSTEPS;
    for (int k = 0; k < count; k++) {
        double share = ph_shares[k % PH_SUBSTEPS] / parts, after = before + share;
        sizes[k] = size * share;
        prescribe(m, begin, k + 1 == count ? end : begin + size * after, begin + size * ((before + after) / 2),
                  number + k);
        before = after;
    }
}

/* Up to so many steps of the grid, to the first that fails or that contacts ask to be taken in parts. */
static int64_t regular(ph_model *m, int64_t count, int64_t *state) {
    double sizes[PH_SUBSTEPS];
    for (int64_t k = 0; k < count; k++)
        prescribe_step(m, instant(m, m->steps + k), instant(m, m->steps + k + 1), PH_STEP, 1, k * PH_SUBSTEPS, sizes);
    return entered(m, sizes, PH_SUBSTEPS, count, PH_STEP, 0, state);
}

#if PH_MOST_PARTS > 1
/* One step in the parts that contacts asked for. */
static int64_t around_contacts(ph_model *m, double begin, double end, double size, int64_t *state) {
    int64_t parts = (int64_t)m->numbers[PH_PLACE_parts];
    if (parts < 1 || parts > PH_MOST_PARTS) return 0;
    double *sizes = m->scratch, longest = 0.0;
    forget(m); /* what stands there */
    prescribe_step(m, begin, end, size, (int)parts, 0, sizes);
    for (int k = 0; k < PH_SUBSTEPS; k++) longest = fmax(longest, fabs(sizes[k]));
    return entered(m, sizes, (int)parts * PH_SUBSTEPS, 1, longest, 1, state);
}
#endif

static int project(ph_model *m, double time);
static void control(ph_model *m, double time);

/* Velocities are brought back onto the joints where steps get another length. */
static int change_size(ph_model *m, double time, double size) {
    if (fabs(size - m->sizes.last) > SNAP * fabs(size) && project(m, time)) return 1;
    m->sizes.last = size;
    return 0;
}

/* One step from ``begin`` to ``end``; its status. One that fails leaves the state as it was, and shorter ones to come. */
static int64_t tried(ph_model *m, double begin, double end, int depth) {
    int64_t state = NOT_CONVERGED, taken = 0;
    double size = end - begin, sizes[PH_SUBSTEPS], *before = m->saved + PH_STATE + PH_CONTROL;
    memcpy(before, m->numbers, 8 * (size_t)PH_STATE);
    m->sizes.continues = 0;
    if (!change_size(m, begin, size)) {
        prescribe_step(m, begin, end, size, 1, 0, sizes);
        taken = entered(m, sizes, PH_SUBSTEPS, 1, fabs(size), 0, &state);
#if PH_MOST_PARTS > 1
        if (state == TOUCHING) taken = around_contacts(m, begin, end, size, &state);
#endif
    }
    m->sizes.continues = 0;
    if (taken) {
        if (++m->sizes.successes == PATIENCE && m->sizes.depth) m->sizes.depth--, m->sizes.successes = 0;
        return CONVERGED;
    }
    memcpy(m->numbers, before, 8 * (size_t)PH_STATE);
    m->sizes.depth = depth + 1, m->sizes.successes = 0;
    return state;
}

/* One step from ``begin`` to ``end``, or two halves of it, each of which may be halved; its status. */
static int64_t halved(ph_model *m, double begin, double end, int depth, int *pieces) {
    int64_t state;
    if (depth >= m->sizes.depth) {
        state = tried(m, begin, end, depth);
        if (state == CONVERGED || depth == MOST_HALVINGS || ++*pieces > MOST_PIECES) return state;
    }
    double middle = (begin + end) / 2;
    state = halved(m, begin, middle, depth + 1, pieces);
    return state == CONVERGED ? halved(m, middle, end, depth + 1, pieces) : state;
}

/* The first time after ``begin`` at which a step to ``end`` has to end. */
static double next_break(double begin, double end) {
    for (int k = 0; k < PH_BREAKS; k++)
        if (ph_breaks[k] > begin + SNAP * PH_STEP && ph_breaks[k] < end - SNAP * PH_STEP) return ph_breaks[k];
    return end;
}

/* A step that failed as a whole, follows such ones, is cut, or is shorter than those of the grid; its status. */
static int64_t in_pieces(ph_model *m, double begin, double end) {
    int pieces = 0;
    ph_sizes sizes = m->sizes;
    memcpy(m->saved, m->numbers, 8 * (size_t)PH_STATE);
    int64_t state = CONVERGED;
    for (double from = begin, to; state == CONVERGED && from < end; from = to) {
        to = next_break(from, end);
        state = halved(m, from, to, 0, &pieces);
    }
    if (state != CONVERGED) memcpy(m->numbers, m->saved, 8 * (size_t)PH_STATE), m->sizes = sizes;
    forget(m);
    return state;
}

/* Controllers say what they hold in the next step; what they remembered is kept for a step that fails. */
static void begin_control(ph_model *m) {
    memcpy(m->saved + PH_STATE, m->control, 8 * (size_t)PH_CONTROL);
    control(m, instant(m, m->steps));
}

static int failed(ph_model *m, int64_t state) {
    memcpy(m->control, m->saved + PH_STATE, 8 * (size_t)PH_CONTROL);
    return m->status = state == SINGULAR ? PH_SINGULAR : PH_NOT_CONVERGED;
}

int ph_step(ph_model *m, int count) {
    if (!m || count < 0) return PH_WRONG_ARGUMENT; /* no step is taken: the status stays */
    int64_t left = count;
    m->status = PH_OK;
    while (left > 0) {
        int64_t block = PH_CONTROLLERS ? 1 : left < BLOCK ? left : BLOCK, state = CONVERGED;
        if (instant(m, m->steps + 1) > PH_END) return m->status = PH_OVER;
        begin_control(m);
        while (block > 1 && instant(m, m->steps + block) > PH_END) block--;
        for (int64_t k = 0; k < block; k++) {
            double end = instant(m, m->steps + k + 1);
            if (next_break(instant(m, m->steps + k), end) < end) block = k;
        }
        if (!block || m->sizes.depth || change_size(m, instant(m, m->steps), PH_STEP)) state = NOT_CONVERGED;
        int64_t taken = state == CONVERGED ? regular(m, block, &state) : 0;
        m->steps += taken, left -= taken;
#if PH_MOST_PARTS > 1
        if (state == TOUCHING) {
            taken = around_contacts(m, instant(m, m->steps), instant(m, m->steps + 1), PH_STEP, &state);
            m->steps += taken, left -= taken;
        }
#endif
        if (state == CONVERGED) continue;
        state = in_pieces(m, instant(m, m->steps), instant(m, m->steps + 1));
        if (state != CONVERGED) return failed(m, state);
        m->steps += 1, left -= 1;
    }
    return PH_OK;
}

int ph_step_to(ph_model *m, double time) {
    if (!m || !(time - ph_time(m) >= -SNAP * PH_STEP) || !(time - ph_time(m) < 1e9 * PH_STEP)) return PH_WRONG_ARGUMENT;
    double whole = floor((time - ph_time(m)) / PH_STEP + SNAP);
    int status = ph_step(m, (int)whole);
    double begin = ph_time(m), size = time - begin;
    if (status || size <= SNAP * PH_STEP) return status;
    if (time > PH_END) return m->status = PH_OVER;
    begin_control(m);
    int64_t state = in_pieces(m, begin, time);
    if (state != CONVERGED) return failed(m, state);
    m->origin = time, m->steps = 0; /* a new grid */
    return PH_OK;
}

double ph_time(const ph_model *m) { return m ? instant(m, m->steps) : 0.0; }
int ph_status(const ph_model *m) { return m ? m->status : PH_WRONG_ARGUMENT; }

const char *ph_message(int status) {
    static const char *const words[] = {
        "all is well",
        "the step does not converge: take a smaller step, check loads and drives there, or add viscosity",
        "the step has a singular matrix: a joint at a dead point, or joints that hold a motion twice",
        "no such input or output, a negative count, or no address",
        "an input must be a finite number",
        "a function of time is not known any further: build the model with a longer duration",
        "this is no state of this model",
        "a parameter must lie in its range",
        "this parameter moves the start or the joints, and the motion has begun: reset first",
    };
    return known(status, (int)(sizeof words / sizeof *words)) ? words[status] : "no such status";
}

/* Inputs. */

static double *input(const ph_model *m, int number) {
    double *found = m->inputs;
    for (int i = 0; i < number; i++) found += ph_inputs[i].size;
    return found;
}

int ph_set_input(ph_model *m, int number, const double *values) {
    if (!m || !values || !known(number, PH_INPUTS)) return PH_WRONG_ARGUMENT;
    for (int k = 0; k < ph_inputs[number].size; k++)
        if (!finite_number(values[k])) return PH_NOT_FINITE;
    double *own = input(m, number);
    for (int k = 0; k < ph_inputs[number].size; k++) own[k] = values[k];
    m->is_accelerated = 0;
    return PH_OK;
}

int ph_get_input(const ph_model *m, int number, double *values) {
    if (!m || !values || !known(number, PH_INPUTS)) return PH_WRONG_ARGUMENT;
    const double *own = input(m, number);
    for (int k = 0; k < ph_inputs[number].size; k++) values[k] = own[k];
    return PH_OK;
}

/* Parameters. */

int ph_get_parameter(const ph_model *m, int number, double *value) {
    if (!m || !value || !known(number, PH_PARAMETERS)) return PH_WRONG_ARGUMENT;
    *value = m->parameters[number];
    return PH_OK;
}

#if PH_PARAMETERS > 0
static double whole_energy(const ph_model *m) {
    double found = 0.0;
    for (int k = 0; k < 4; k++) found += m->numbers[PH_PLACE_energy + k];
    return found;
}

/* In the middle of a motion places and velocities stay; what the energy changes by counts as dissipated. */
int ph_set_parameter(ph_model *m, int number, double value) {
    if (!m || !known(number, PH_PARAMETERS)) return PH_WRONG_ARGUMENT;
    const ph_parameter *own = ph_parameters + number;
    if (!finite_number(value)) return PH_NOT_FINITE;
    if (value < own->low || value > own->high) return PH_OUT_OF_RANGE;
    if (m->parameters[number] == value) return PH_OK;
    if (m->sizes.has_begun && !own->is_tunable) return PH_FIXED;
    if (m->sizes.has_begun) project(m, ph_time(m)), begin_at(m, ph_time(m));
    double before = whole_energy(m);
    m->parameters[number] = value;
    follow_parameters(m);
    if (!m->sizes.has_begun) {
        start_again(m);
        return PH_OK;
    }
    begin_at(m, ph_time(m));
    m->numbers[PH_PLACE_dissipated] += before - whole_energy(m);
    m->numbers[PH_PLACE_known_velocities] = 0.0;
    m->sizes.continues = 0;
    forget(m);
    return PH_OK;
}
#else
int ph_set_parameter(ph_model *m, int number, double value) {
    (void)m, (void)number, (void)value;
    return PH_WRONG_ARGUMENT;
}
#endif

/* Outputs. */

#if PH_MOVING > 0
static const int64_t *table(const ph_model *m, int place) { return (const int64_t *)(intptr_t)m->header[place]; }
static const double *reals(const ph_model *m, int place) { return (const double *)(intptr_t)m->header[place]; }

/* What moving frames and paths change a constrained function by in a second, while nothing else moves. */
static double drift(const ph_model *m, int64_t row, const double *values, const double *rates) {
    const int64_t *time_of = table(m, PH_TABLE_function_time), *term = table(m, PH_TABLE_terms_begin);
    const int64_t *term_time = table(m, PH_TABLE_term_time);
    const int64_t *sides[2] = {table(m, PH_TABLE_term_first), table(m, PH_TABLE_term_second)};
    const int64_t *parts = table(m, PH_TABLE_chord_parts_begin);
    const int64_t *vector = table(m, PH_TABLE_chord_vector), *carrier = table(m, PH_TABLE_vector_carrier);
    const int64_t *moves = table(m, PH_TABLE_vector_moving);
    const double *weight = reals(m, PH_TABLE_chord_weight), *coefficient = reals(m, PH_TABLE_term_coefficient);
    const double *chord = reals(m, PH_TABLE_chord0);
    double found = time_of[row] >= 0 ? -rates[time_of[row]] : 0.0;
    for (int64_t p = term[row]; p < term[row + 1]; p++) {
        double own = 0.0, change = 0.0;
        for (int i = 0; i < 3; i++) own += chord[3 * sides[0][p] + i] * chord[3 * sides[1][p] + i];
        for (int side = 0; side < 2; side++) {
            int64_t y = sides[side][p], other = sides[1 - side][p];
            for (int64_t k = parts[y]; k < parts[y + 1]; k++)
                if (carrier[vector[k]] == PH_CARRIER_MOVING)
                    for (int i = 0; i < 3; i++)
                        change += weight[k] * rates[3 * moves[vector[k]] + i] * chord[3 * other + i];
        }
        if (term_time[p] >= 0) change = values[term_time[p]] * change + rates[term_time[p]] * own;
        found += coefficient[p] * change;
    }
    return found;
}

/* The same of relations, of whose coordinates the slopes are known once velocities were found; whether there are any. */
static int relations_drift(const ph_model *m, const double *values, const double *rates, double *drifts) {
    const int64_t *first = table(m, PH_TABLE_row_force), *forces = table(m, PH_TABLE_row_force_count);
    const int64_t *functions = table(m, PH_TABLE_functions_begin);
    const double *factor = reals(m, PH_TABLE_force_factor), *slope = reals(m, PH_TABLE_slope);
    int are_any = 0;
    for (int row = 0; row < PH_ROWS; row++)
        for (int64_t f = first[row]; f < first[row] + forces[row]; f++) {
            int64_t i = PH_CONSTRAINTS + f;
            for (int64_t k = functions[i]; k < functions[i + 1]; k++)
                drifts[row] += factor[f] * slope[k] * drift(m, k, values, rates);
            are_any = 1;
        }
    return are_any;
}
#endif

/* Velocities that satisfy the joints, and what moves these by itself, after the state was looked at; 0: found. */
static int joint_velocities(ph_model *m, double time, double *found) {
    double *drifts = found + PH_VELOCITIES;
    memcpy(found, m->numbers + PH_PLACE_velocity, 8 * (size_t)PH_VELOCITIES);
    for (int k = 0; k < PH_ROWS; k++) drifts[k] = 0.0;
    (void)time;
#if PH_ROWS > 0
#if PH_MOVING > 0
    double *rates = m->moving + 3 * PH_MOVING;
    moving_values(m->reals, time, rates, 1);
    for (int k = 0; k < PH_ROWS; k++) drifts[k] = drift(m, k, m->moving, rates);
#endif
    int64_t is_found[1] = {0};
    for (int pass = 0; pass < 2; pass++) {
        if (ph_k_joint_velocities(m->header, PH_HEADER, m->moving, 3 * PH_MOVING, drifts, PH_ROWS, found, PH_VELOCITIES,
                                  PH_RELAXATION, is_found))
            break;
        if (!is_found[0]) break;
#if PH_MOVING > 0
        if (!pass && relations_drift(m, m->moving, rates, drifts)) continue;
#endif
        return 0;
    }
    memcpy(found, m->numbers + PH_PLACE_velocity, 8 * (size_t)PH_VELOCITIES);
#endif
    return PH_ROWS > 0;
}

/* Energies at a time, and everything that follows from the pose. */
static void begin_at(ph_model *m, double time) {
    double one[1] = {1.0}, error = m->numbers[PH_PLACE_step_error];
    int64_t found[2];
    ph_request asked = PH_REQUEST;
    moving_values(m->reals, time, m->moving, 0);
    advance(m, &asked, one, 1, 0, found);
    m->numbers[PH_PLACE_step_error] = error;
}

/* Bring velocities back onto the joints, before steps of another length: what moving frames and drives supply is their
   work, what goes is dissipated (docs/theory.md, 4). 0: done. */
static int project(ph_model *m, double time) {
    begin_at(m, time);
    double before = m->numbers[PH_PLACE_energy], supplied = 0.0, *velocity = m->scratch;
    forget(m);
    if (joint_velocities(m, time, velocity)) return 1;
#if PH_MOVING > 0
    const double *drifts = velocity + PH_VELOCITIES, *solved = m->numbers + PH_PLACE_trial_update;
    const int64_t *unknown = table(m, PH_TABLE_row_unknown), *functions = table(m, PH_TABLE_functions_begin);
    const int64_t *force = table(m, PH_TABLE_row_force), *forces = table(m, PH_TABLE_row_force_count);
    for (int64_t i = 0; i < PH_CONSTRAINTS; i++)
        for (int64_t k = functions[i]; k < functions[i + 1]; k++) { /* multipliers of a step of 2 s: half of impulses */
            int64_t owner = forces[k] ? PH_CONSTRAINTS + force[k] + forces[k] - 1 : i;
            double work = -2.0 * drifts[k] * solved[unknown[k]];
            m->numbers[PH_PLACE_work + PH_FORCES_ON_PORTS + owner] += work;
            supplied += work;
        }
#endif
    memcpy(m->numbers + PH_PLACE_velocity, velocity, 8 * (size_t)PH_VELOCITIES);
    begin_at(m, time);
    m->numbers[PH_PLACE_dissipated] += before + supplied - m->numbers[PH_PLACE_energy];
    m->numbers[PH_PLACE_known_velocities] = 0.0;
    return 0;
}

/* The first sources, at velocities and moving vectors that stand in ``scratch``; angles next to those in ``turns``,
   or within a half turn. */
static void measure_sources(ph_model *m, int count, double *turns) {
#if PH_SOURCES > 0
    double *velocity = m->scratch, *measured = velocity + PH_VELOCITIES + PH_ROWS + 3 * PH_MOVING;
    double *places = measured + PH_MEASURED, *rates = places + PH_MOST_VECTORS * 3;
    int64_t found[2];
    for (int k = 0; k < count; k++) {
        const ph_source *s = ph_sources + k;
        double *q = m->numbers, *angles = turns ? turns : rates + PH_MOST_VECTORS * 3;
        ph_k_measured_vectors(q + PH_PLACE_position, PH_CARRIERS, 3, q + PH_PLACE_rotation, PH_FRAMES, 3, 3,
                              q + PH_PLACE_eta, PH_ELASTIC, velocity, PH_VELOCITIES, PH_DIMENSION,
                              (void *)(ph_integers + s->vectors), s->vector_count, 7,
                              (void *)(m->reals + s->base), s->vector_count, 3, (void *)(m->reals + s->shapes),
                              s->shape_count, 3, places, s->vector_count, 3, rates, s->vector_count, 3, found);
#if PH_MOVING > 0
        for (int v = 0; v < s->vector_count; v++) {
            int64_t moves = ph_integers[s->moves + v];
            for (int i = 0; i < 3 && moves >= 0; i++) {
                places[3 * v + i] = m->moving[3 * moves + i];
                rates[3 * v + i] = m->moving[3 * PH_MOVING + 3 * moves + i];
            }
        }
#endif
        for (int i = 0; i < s->item_count && !turns; i++) angles[i] = NAN;
        ph_k_measure(places, s->vector_count, 3, rates, s->vector_count, 3, (void *)(ph_integers + s->items),
                     s->item_count, 4, (void *)(ph_integers + s->functions), s->function_count, 2,
                     (void *)(ph_integers + s->terms), s->term_count, 2, (void *)(ph_integers + s->chords),
                     s->chord_count, 2, (void *)(ph_integers + s->parts), s->part_count,
                     (void *)(m->reals + s->numbers), s->part_count + s->term_count, angles, s->item_count,
                     measured + s->first, s->measured_count, found);
        if (turns) turns += s->item_count;
    }
#endif
    (void)m, (void)count, (void)turns;
}

/* Energies, velocities and numbers of joints and points at a time, into ``scratch``. */
static void look(ph_model *m, double time) {
    begin_at(m, time);
    double *velocity = m->scratch, *moving = velocity + PH_VELOCITIES + PH_ROWS;
    joint_velocities(m, time, velocity);
    memcpy(moving, m->moving, 8 * (size_t)(3 * PH_MOVING));
    measure_sources(m, PH_SOURCES, 0);
    m->is_measured = 1;
}

/* How a number of the tape is found (algebra/number_tape.py). */
enum { SUM, ROOT, INVERSE, SINE, VERSINE, REST, ANGLE, SIDE, QUATERNION };

static double number_at(const ph_model *m, int64_t place) {
    return place < 0 ? m->numbers[-1 - place] : m->scratch[place];
}

/* constant + sum of weights times products. */
static double sum(const ph_model *m, const ph_number *n) {
    const int64_t *own = ph_integers + n->first;
    const double *weight = m->reals + n->weight;
    double total = *weight;
    for (int i = 0; i < n->count; i++) {
        double product = *++weight;
        for (int64_t left = *own++; left > 0; left--) product *= number_at(m, *own++);
        total += product;
    }
    return total;
}

/* sin t / t, (1 - cos t) / t^2 or (t - sin t) / t^3 of t^2. */
static double of_turn(int kind, double square) {
    if (square < 1e-3) { /* series, up to t^6 */
        double c[3][4] = {{1.0, 6.0, 120.0, 5040.0}, {2.0, 24.0, 720.0, 40320.0}, {6.0, 120.0, 5040.0, 362880.0}};
        const double *d = c[kind - SINE];
        return 1.0 / d[0] - square * (1.0 / d[1] - square * (1.0 / d[2] - square / d[3]));
    }
    double t = sqrt(square), half = sin(0.5 * t);
    if (kind == SINE) return sin(t) / t;
    return kind == VERSINE ? 2.0 * half * half / square : (t - sin(t)) / (t * square);
}

/* Component k of the quaternion of a matrix, row after row; from the largest of four numbers. */
static double quaternion(const double *R, int component) {
    double q[4], trace = R[0] + R[4] + R[8], largest = trace, size = 0.0;
    int which = 3;
    for (int i = 2; i >= 0; i--)
        if (R[4 * i] >= largest) largest = R[4 * i], which = i;
    if (which == 3) {
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            q[i] = R[3 * k + j] - R[3 * j + k];
        }
        q[3] = 1.0 + trace;
    } else {
        int i = which, j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1.0 - trace + 2.0 * R[4 * i];
        q[j] = R[3 * j + i] + R[3 * i + j];
        q[k] = R[3 * k + i] + R[3 * i + k];
        q[3] = R[3 * k + j] - R[3 * j + k];
    }
    for (int i = 0; i < 4; i++) size += q[i] * q[i];
    return q[component] / sqrt(size);
}

static double derived(const ph_model *m, const ph_number *n) {
    if (n->kind == SUM) return sum(m, n);
    const int64_t *own = ph_integers + n->first + 1; /* after how many there are */
    if (n->kind >= QUATERNION) return quaternion(m->scratch + own[0], n->kind - QUATERNION);
    double x = number_at(m, own[0]), y = own[-1] > 1 ? number_at(m, own[1]) : 0.0;
    switch (n->kind) {
    case ROOT: return sqrt(x);
    case INVERSE: return 1.0 / x;
    case ANGLE: return 2.0 * atan2(x, y);
    case SIDE: return y < 0.0 ? -x : x;
    default: return of_turn(n->kind, x);
    }
}

static void find_numbers(ph_model *m, int begin, int end) {
    double *tape = m->scratch + PH_TAPE;
    for (int k = begin; k < end; k++) tape[k] = derived(m, ph_tape + k);
}

#if PH_CONTROLLERS > 0
#define EARLY 1e-9 /* of a period: a sample is due */

/* y = M x + y of a matrix (rows, columns). */
static void add_product(const double *M, const double *x, int rows, int columns, double *y) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) y[i] += M[i * columns + j] * x[j];
}

/* A sample of a controller at a time, of what it measures. */
static void sample(ph_model *m, const ph_controller *c, double *memory, double time, const double *measured) {
    const double *numbers = m->reals + c->numbers, *A = numbers + 1, *B = A + c->order * c->order;
    const double *C = B + c->order * c->count, *D = C + c->size * c->order;
    double *input = memory + 3, *state = input + c->count, *values = state + c->order;
    double *next = m->row; /* room for a state: rows of the loop are asked for later */
    double *last = values + (c->queue - 1) * c->size;
    if (memory[1] > 0.0) {
        for (int k = 0; k < c->order; k++) next[k] = 0.0;
        add_product(A, state, c->order, c->order, next);
        add_product(B, input, c->order, c->count, next);
        memcpy(state, next, 8 * (size_t)c->order);
    }
    for (int k = 0; k < c->count; k++)
        input[k] = c->target < 0 ? measured[k] : column(m->reals, ph_target_columns + c->target + k, time, 0) - measured[k];
    memmove(values, values + c->size, 8 * (size_t)((c->queue - 1) * c->size));
    for (int k = 0; k < c->size; k++) last[k] = 0.0;
    add_product(C, state, c->size, c->order, last);
    add_product(D, input, c->size, c->count, last);
    memory[1] += 1.0;
    memory[2] = time;
}

/* What controllers hold in the step that begins at a time. */
static void control(ph_model *m, double time) {
    double *turns = m->control + 3 * PH_LOADS, *memory = turns + PH_TURNS;
    forget(m);
    moving_values(m->reals, time, m->moving, 0);
    moving_values(m->reals, time, m->moving + 3 * PH_MOVING, 1);
    memcpy(m->scratch, m->numbers + PH_PLACE_velocity, 8 * (size_t)PH_VELOCITIES);
    memcpy(m->scratch + PH_VELOCITIES + PH_ROWS, m->moving, 8 * (size_t)(3 * PH_MOVING));
    measure_sources(m, PH_WATCHED, turns);
    for (int k = 0; k < PH_CONTROLLERS; memory += memory_of(ph_controllers + k), k++) {
        const ph_controller *c = ph_controllers + k;
        double period = m->reals[c->numbers];
        if (!(memory[0] == memory[0])) memory[0] = memory[2] = time;
        if (memory[1] == 0.0 || period == 0.0 || time >= memory[0] + (memory[1] - EARLY) * period) {
            find_numbers(m, c->begin, c->end);
            sample(m, c, memory, time, m->scratch + PH_TAPE + c->end - c->count);
        }
        const double *values = memory + 3 + c->count + c->order;
        for (int i = c->first_actuator; i < c->first_actuator + c->actuators; i++) {
            const ph_actuator *a = ph_actuators + i;
            for (int j = 0; j < (a->direction < 0 ? a->size : 3); j++)
                m->control[a->column + j] =
                    a->direction < 0 ? values[a->begin + j] : values[a->begin] * m->reals[a->direction + j];
        }
    }
}
#else
static void control(ph_model *m, double time) { (void)m, (void)time; }
#endif

#if PH_ACCELERATIONS > 0
/* The state as it was before steps were tried. */
static void put_back(ph_model *m, ph_sizes sizes) {
    begin_from(m, m->aside);
    m->sizes = sizes;
    m->is_measured = 0;
}

/* Rates of all accelerations after a step aside of a size, which may be negative, or now; whether it is one. */
static int rates_aside(ph_model *m, double size, double *rates) {
    double begin = ph_time(m);
    int pieces = 0;
    m->sizes = (ph_sizes){NAN, 0, 0, 0, m->sizes.has_begun};
    if (begin + size > PH_END || (size && halved(m, begin, begin + size, 0, &pieces) != CONVERGED)) return 0;
    look(m, begin + size);
    for (int k = 0; k < PH_OUTPUTS; k++) {
        const ph_output *own = ph_outputs + k;
        if (!own->is_acceleration) continue;
        find_numbers(m, own->begin, own->end);
        memcpy(rates, m->scratch + PH_TAPE + own->end - own->size, 8 * (size_t)own->size);
        rates += own->size;
    }
    return 1;
}

/* Half of the difference of rates after a step forwards and one backwards, with inputs as they are, over its size; of
   one of them where the other fails. Nothing is changed by it. */
static int accelerations(ph_model *m) {
    double *found = m->aside + PH_STATE + PH_CONTROL, *before = found + PH_ACCELERATIONS, steps = 2.0;
    ph_sizes sizes = m->sizes;
    memcpy(m->aside, m->numbers, 8 * (size_t)PH_STATE);
    memcpy(m->aside + PH_STATE, m->control, 8 * (size_t)PH_CONTROL);
    control(m, ph_time(m));
    int is_after = rates_aside(m, PH_STEP, found);
    put_back(m, sizes);
    int is_before = rates_aside(m, -PH_STEP, before);
    put_back(m, sizes);
    if (!(is_after && is_before)) {
        steps = 1.0;
        rates_aside(m, 0.0, is_after ? before : found);
        put_back(m, sizes);
    }
    memcpy(m->control, m->aside + PH_STATE, 8 * (size_t)PH_CONTROL);
    if (!is_after && !is_before) return PH_NOT_CONVERGED;
    for (int k = 0; k < PH_ACCELERATIONS; k++) found[k] = (found[k] - before[k]) / (steps * PH_STEP);
    m->is_accelerated = 1;
    return PH_OK;
}

static int acceleration(ph_model *m, int number, double *values) {
    const double *found = m->aside + PH_STATE + PH_CONTROL;
    int status = m->is_accelerated ? PH_OK : accelerations(m);
    for (int k = 0; k < number; k++) found += ph_outputs[k].is_acceleration ? ph_outputs[k].size : 0;
    if (status == PH_OK) memcpy(values, found, 8 * (size_t)ph_outputs[number].size);
    return status;
}
#endif

int ph_get_output(ph_model *m, int number, double *values) {
    if (!m || !values || !known(number, PH_OUTPUTS)) return PH_WRONG_ARGUMENT;
    const ph_output *own = ph_outputs + number;
#if PH_ACCELERATIONS > 0
    if (own->is_acceleration) return acceleration(m, number, values);
#endif
    if (!m->is_measured) look(m, ph_time(m));
    find_numbers(m, own->begin, own->end);
    memcpy(values, m->scratch + PH_TAPE + own->end - own->size, 8 * (size_t)own->size);
    return PH_OK;
}

/* States. */

#define GIVEN_NUMBERS ((size_t)PH_INPUT_NUMBERS + PH_CONTROL + PH_PARAMETERS) /* one after the other */
#define SAVED_NUMBERS ((size_t)PH_STATE + GIVEN_NUMBERS)

/* It follows the numbers of a state, which begin with those of the model: pages draw bodies from these. */
typedef struct ph_saved {
    uint64_t magic, model, digest;
    double origin;
    int64_t steps;
    ph_sizes sizes;
} ph_saved;

/* Of the head and the numbers of a state (FNV-1a, a word at a time). */
static uint64_t digest(const char *numbers, ph_saved head) {
    uint64_t found = MAGIC, word;
    head.digest = 0;
    for (size_t k = 0; k < sizeof head / 8 + SAVED_NUMBERS; k++) {
        memcpy(&word, k < sizeof head / 8 ? (const char *)&head + 8 * k : numbers + 8 * (k - sizeof head / 8), 8);
        found = (found ^ word) * FNV;
    }
    return found;
}

size_t ph_state_size(void) { return sizeof(ph_saved) + 8 * SAVED_NUMBERS; }

int ph_save(const ph_model *m, void *state) {
    if (!m || !state) return PH_WRONG_ARGUMENT;
    ph_saved head = {MAGIC, m->identity, 0, m->origin, m->steps, m->sizes};
    char *to = state;
    memcpy(to, m->numbers, 8 * (size_t)PH_STATE);
    memcpy(to + 8 * (size_t)PH_STATE, m->inputs, 8 * GIVEN_NUMBERS);
    head.digest = digest(to, head);
    memcpy(to + 8 * SAVED_NUMBERS, &head, sizeof head);
    return PH_OK;
}

int ph_restore(ph_model *m, const void *state) {
    ph_saved head;
    if (!m || !state) return PH_WRONG_ARGUMENT;
    const char *from = (const char *)state;
    memcpy(&head, from + 8 * SAVED_NUMBERS, sizeof head);
    if (head.magic != MAGIC || head.model != m->identity || head.steps < 0) return PH_WRONG_STATE;
    if (!finite_number(head.origin)) return PH_WRONG_STATE;
    if (head.digest != digest(from, head)) return PH_WRONG_STATE;
    begin_from(m, from);
    memcpy(m->inputs, from + 8 * (size_t)PH_STATE, 8 * GIVEN_NUMBERS);
#if PH_PARAMETERS > 0
    follow_parameters(m);
#endif
    m->origin = head.origin;
    m->steps = head.steps;
    m->sizes = head.sizes;
    m->status = PH_OK;
    forget(m);
    return PH_OK;
}
