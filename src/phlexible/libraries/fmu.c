/* The functions of FMI 2 and 3 for co-simulation over those of model.h; the description of the FMU says which are used.

   Types are those of the standards (https://fmi-standard.org), written out. Value references are places in ph_variables
   (fmu_data.h): the time first, then all numbers of inputs, then of outputs, then parameters. */

#define PH_NO_MALLOC
#include "model.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_data.h"

#if defined(_WIN32)
#define FMI __declspec(dllexport)
#else
#define FMI __attribute__((visibility("default")))
#endif

enum { GOOD, WARNING, DISCARD, FAILED, FATAL }; /* statuses of both standards */
#define MOST 16 /* numbers of one input or output */

typedef void (*log_2)(void *, const char *, int, const char *, const char *, ...);
typedef void (*log_3)(void *, int, const char *, const char *);
typedef struct callbacks_2 {
    log_2 logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} callbacks_2;

typedef struct fmu {
    void *memory;
    ph_model *model;
    log_2 logger_2;
    log_3 logger_3;
    void *environment;
    char name[128];
} fmu;

static int said(fmu *f, int status, const char *words) {
    if (f->logger_2) f->logger_2(f->environment, f->name, status, "logStatusError", "%s", words);
    if (f->logger_3) f->logger_3(f->environment, status, "logStatusError", words);
    return status;
}

static int done(fmu *f, int status) { return status ? said(f, FAILED, ph_message(status)) : GOOD; }

static fmu *made(const char *name, const char *token) {
    if (!token || strcmp(token, PH_TOKEN)) return 0;
    fmu *f = (fmu *)calloc(1, sizeof *f);
    if (!f) return 0;
    f->memory = malloc(ph_size());
    f->model = ph_place(f->memory);
    if (!f->model) {
        free(f);
        return 0;
    }
    strncpy(f->name, name ? name : "", sizeof f->name - 1);
    return f;
}

static void released(void *instance) {
    fmu *f = (fmu *)instance;
    if (f) free(f->memory), free(f);
}

static int got(fmu *f, const uint32_t *references, size_t count, double *values) {
    for (size_t k = 0; k < count; k++) {
        double numbers[MOST];
        if (references[k] >= PH_VARIABLES) return said(f, FAILED, "there is no variable of this value reference");
        const ph_variable *v = ph_variables + references[k];
        if (v->kind == PH_TIME) values[k] = ph_time(f->model);
        else if (v->kind == PH_PARAMETER) ph_get_parameter(f->model, v->number, values + k);
        else if (v->kind == PH_INPUT ? ph_get_input(f->model, v->number, numbers) : ph_get_output(f->model, v->number, numbers))
            return FAILED;
        else values[k] = numbers[v->component];
    }
    return GOOD;
}

static int put(fmu *f, const uint32_t *references, size_t count, const double *values) {
    for (size_t k = 0; k < count; k++) {
        double numbers[MOST];
        int kind = references[k] < PH_VARIABLES ? ph_variables[references[k]].kind : PH_TIME;
        if (kind != PH_INPUT && kind != PH_PARAMETER) return said(f, FAILED, "only inputs and parameters can be set");
        const ph_variable *v = ph_variables + references[k];
        if (kind == PH_PARAMETER) {
            int refused = ph_set_parameter(f->model, v->number, values[k]);
            if (refused) return done(f, refused);
            continue;
        }
        ph_get_input(f->model, v->number, numbers);
        numbers[v->component] = values[k];
        int status = ph_set_input(f->model, v->number, numbers);
        if (status) return done(f, status);
    }
    return GOOD;
}

/* What outputs change by along a direction of the inputs, at this instant: accelerations alone follow at once, and are
   linear in forces but for what these move in a step. */
static int derived(fmu *f, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m, const double *seed, double *found) {
    double kept[PH_VARIABLES], largest = 0.0, scale = 1.0, value;
    for (size_t k = 0; k < n; k++) {
        if (unknowns[k] >= PH_VARIABLES || ph_variables[unknowns[k]].kind != PH_OUTPUT)
            return said(f, FAILED, "only outputs have directional derivatives");
        found[k] = 0.0;
    }
    for (size_t k = 0; k < m; k++) {
        uint32_t own = knowns[k];
        if (own >= PH_VARIABLES || ph_variables[own].kind != PH_INPUT)
            return said(f, FAILED, "directional derivatives are those along inputs");
        if (got(f, knowns + k, 1, kept + own)) return FAILED;
        largest = fmax(largest, fabs(seed[k])), scale = fmax(scale, fabs(kept[own]));
    }
    if (!(largest > 0.0)) return GOOD;
    double size = 1e-3 * scale / largest;
    int status = GOOD;
    for (int side = 1; side >= -1 && !status; side -= 2) {
        for (size_t k = 0; k < m && !status; k++) {
            value = kept[knowns[k]] + side * size * seed[k];
            status = put(f, knowns + k, 1, &value);
        }
        for (size_t k = 0; k < n && !status; k++) {
            if (!ph_variables[unknowns[k]].follows) continue;
            status = got(f, unknowns + k, 1, &value);
            found[k] += side * value / (2.0 * size);
        }
    }
    for (size_t k = 0; k < m; k++) put(f, knowns + k, 1, kept + knowns[k]);
    return status;
}

/* As it was instantiated: parameters too. */
static int reset(fmu *f) {
    double low, usual, high;
    ph_reset(f->model);
    for (int k = 0; k < ph_parameter_count(); k++)
        if (!ph_parameter_range(k, &low, &usual, &high)) ph_set_parameter(f->model, k, usual);
    return GOOD;
}

static int begun(fmu *f, double start) { return done(f, ph_begin_at(f->model, start)); }

static int stepped(fmu *f, double now, double size) {
    if (!(size > 0.0)) return said(f, FAILED, "a communication step must be positive");
    double missed = now - ph_time(f->model);
    if (missed > 1e-6 * ph_step_size() || missed < -1e-6 * ph_step_size())
        return said(f, FAILED, "a communication step must begin where the one before ended");
    return done(f, ph_step_to(f->model, now + size));
}

static int kept(fmu *f, void **state) {
    if (!*state) *state = malloc(ph_state_size());
    return *state ? done(f, ph_save(f->model, *state)) : FAILED;
}

static int written(void *state, char *bytes, size_t size) {
    if (size < ph_state_size()) return FAILED;
    memcpy(bytes, state, ph_state_size());
    return GOOD;
}

static int read_back(fmu *f, const char *bytes, size_t size, void **state) {
    if (size < ph_state_size()) return FAILED;
    if (!*state) *state = malloc(ph_state_size());
    if (!*state) return FAILED;
    memcpy(*state, bytes, ph_state_size());
    return f ? GOOD : FAILED;
}

static int forgotten(void **state) {
    if (state) free(*state), *state = 0;
    return GOOD;
}

/* FMI 2. */

FMI const char *fmi2GetTypesPlatform(void) { return "default"; }
FMI const char *fmi2GetVersion(void) { return "2.0"; }
FMI int fmi2SetDebugLogging(fmu *f, int on, size_t n, const char *const *names) { (void)f, (void)on, (void)n, (void)names; return GOOD; }

FMI void *fmi2Instantiate(const char *name, int type, const char *token, const char *place, const callbacks_2 *calls, int visible, int logging) {
    (void)place, (void)visible, (void)logging;
    fmu *f = type == 1 ? made(name, token) : 0;
    if (f && calls) f->logger_2 = calls->logger, f->environment = calls->environment;
    return f;
}

FMI void fmi2FreeInstance(void *f) { released(f); }
FMI int fmi2SetupExperiment(fmu *f, int is_given, double tolerance, double start, int ends, double stop) {
    (void)is_given, (void)tolerance, (void)ends, (void)stop;
    return begun(f, start);
}
FMI int fmi2EnterInitializationMode(fmu *f) { (void)f; return GOOD; }
FMI int fmi2ExitInitializationMode(fmu *f) { (void)f; return GOOD; }
FMI int fmi2Terminate(fmu *f) { (void)f; return GOOD; }
FMI int fmi2Reset(fmu *f) { return reset(f); }
FMI int fmi2GetReal(fmu *f, const uint32_t *r, size_t n, double *x) { return got(f, r, n, x); }
FMI int fmi2SetReal(fmu *f, const uint32_t *r, size_t n, const double *x) { return put(f, r, n, x); }

#define NONE_OF(name, kind) FMI int name(fmu *f, const uint32_t *r, size_t n, kind *x) { (void)r, (void)x; return n ? said(f, FAILED, "no variable has this type") : GOOD; }
NONE_OF(fmi2GetInteger, int)
NONE_OF(fmi2SetInteger, const int)
NONE_OF(fmi2GetBoolean, int)
NONE_OF(fmi2SetBoolean, const int)
NONE_OF(fmi2GetString, const char *)
NONE_OF(fmi2SetString, const char *const)

FMI int fmi2GetFMUstate(fmu *f, void **state) { return kept(f, state); }
FMI int fmi2SetFMUstate(fmu *f, void *state) { return done(f, ph_restore(f->model, state)); }
FMI int fmi2FreeFMUstate(fmu *f, void **state) { (void)f; return forgotten(state); }
FMI int fmi2SerializedFMUstateSize(fmu *f, void *state, size_t *size) { (void)f, (void)state; *size = ph_state_size(); return GOOD; }
FMI int fmi2SerializeFMUstate(fmu *f, void *state, char *bytes, size_t size) { (void)f; return written(state, bytes, size); }
FMI int fmi2DeSerializeFMUstate(fmu *f, const char *bytes, size_t size, void **state) { return read_back(f, bytes, size, state); }

FMI int fmi2GetDirectionalDerivative(fmu *f, const uint32_t *a, size_t n, const uint32_t *b, size_t m, const double *x, double *y) { return derived(f, a, n, b, m, x, y); }
FMI int fmi2SetRealInputDerivatives(fmu *f, const uint32_t *r, size_t n, const int *o, const double *x) { (void)r, (void)n, (void)o, (void)x; return said(f, FAILED, "inputs are held over a step"); }
FMI int fmi2GetRealOutputDerivatives(fmu *f, const uint32_t *r, size_t n, const int *o, double *x) { (void)r, (void)n, (void)o, (void)x; return said(f, FAILED, "outputs have no derivatives"); }
FMI int fmi2DoStep(fmu *f, double now, double size, int no_return) { (void)no_return; return stepped(f, now, size); }
FMI int fmi2CancelStep(fmu *f) { return said(f, FAILED, "steps are not taken aside"); }
FMI int fmi2GetStatus(fmu *f, int kind, int *found) { (void)f, (void)kind, (void)found; return DISCARD; }
FMI int fmi2GetRealStatus(fmu *f, int kind, double *found) {
    if (kind != 1) return DISCARD;
    *found = ph_time(f->model);
    return GOOD;
}
FMI int fmi2GetIntegerStatus(fmu *f, int kind, int *found) { (void)f, (void)kind, (void)found; return DISCARD; }
FMI int fmi2GetBooleanStatus(fmu *f, int kind, int *found) { (void)f, (void)kind, (void)found; return DISCARD; }
FMI int fmi2GetStringStatus(fmu *f, int kind, const char **found) { (void)f, (void)kind, (void)found; return DISCARD; }

/* FMI 3. */

FMI const char *fmi3GetVersion(void) { return "3.0"; }
FMI int fmi3SetDebugLogging(fmu *f, bool on, size_t n, const char *const *names) { (void)f, (void)on, (void)n, (void)names; return GOOD; }
FMI void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *place, bool visible, bool logging, void *environment, log_3 logger) {
    (void)name, (void)token, (void)place, (void)visible, (void)logging, (void)environment, (void)logger;
    return 0;
}
FMI void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *place, bool visible, bool logging, bool events, bool early, const uint32_t *between, size_t n, void *environment, log_3 logger, void *update) {
    (void)place, (void)visible, (void)logging, (void)events, (void)early, (void)between, (void)n, (void)update;
    fmu *f = made(name, token);
    if (f) f->logger_3 = logger, f->environment = environment;
    return f;
}
FMI void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *place, bool visible, bool logging, void *environment, log_3 logger, void *update, void *lock, void *unlock) {
    (void)name, (void)token, (void)place, (void)visible, (void)logging, (void)environment, (void)logger, (void)update, (void)lock, (void)unlock;
    return 0;
}
FMI void fmi3FreeInstance(void *f) { released(f); }
FMI int fmi3EnterInitializationMode(fmu *f, bool is_given, double tolerance, double start, bool ends, double stop) {
    (void)is_given, (void)tolerance, (void)ends, (void)stop;
    return begun(f, start);
}
FMI int fmi3ExitInitializationMode(fmu *f) { (void)f; return GOOD; }
FMI int fmi3EnterEventMode(fmu *f) { return said(f, FAILED, "there are no events"); }
FMI int fmi3Terminate(fmu *f) { (void)f; return GOOD; }
FMI int fmi3Reset(fmu *f) { return reset(f); }

FMI int fmi3GetFloat64(fmu *f, const uint32_t *r, size_t n, double *x, size_t m) { return n == m ? got(f, r, n, x) : FAILED; }
FMI int fmi3SetFloat64(fmu *f, const uint32_t *r, size_t n, const double *x, size_t m) { return n == m ? put(f, r, n, x) : FAILED; }

#define NONE_OF_3(name, kind) FMI int name(fmu *f, const uint32_t *r, size_t n, kind *x, size_t m) { (void)r, (void)x, (void)m; return n ? said(f, FAILED, "no variable has this type") : GOOD; }
#define BOTH_3(name, kind) NONE_OF_3(fmi3Get##name, kind) NONE_OF_3(fmi3Set##name, const kind)
BOTH_3(Float32, float)
BOTH_3(Int8, int8_t)
BOTH_3(UInt8, uint8_t)
BOTH_3(Int16, int16_t)
BOTH_3(UInt16, uint16_t)
BOTH_3(Int32, int32_t)
BOTH_3(UInt32, uint32_t)
BOTH_3(Int64, int64_t)
BOTH_3(UInt64, uint64_t)
BOTH_3(Boolean, bool)
NONE_OF_3(fmi3GetString, const char *)
NONE_OF_3(fmi3SetString, const char *const)
FMI int fmi3GetBinary(fmu *f, const uint32_t *r, size_t n, size_t *sizes, const uint8_t **x, size_t m) { (void)r, (void)sizes, (void)x, (void)m; return n ? said(f, FAILED, "no variable has this type") : GOOD; }
FMI int fmi3SetBinary(fmu *f, const uint32_t *r, size_t n, const size_t *sizes, const uint8_t *const *x, size_t m) { (void)r, (void)sizes, (void)x, (void)m; return n ? said(f, FAILED, "no variable has this type") : GOOD; }
FMI int fmi3GetClock(fmu *f, const uint32_t *r, size_t n, bool *x) { (void)r, (void)x; return n ? said(f, FAILED, "there are no clocks") : GOOD; }
FMI int fmi3SetClock(fmu *f, const uint32_t *r, size_t n, const bool *x) { (void)r, (void)x; return n ? said(f, FAILED, "there are no clocks") : GOOD; }

FMI int fmi3GetNumberOfVariableDependencies(fmu *f, uint32_t r, size_t *n) { (void)r, (void)n; return said(f, FAILED, "there are no arrays"); }
FMI int fmi3GetVariableDependencies(fmu *f, uint32_t r, size_t *a, uint32_t *b, size_t *c, int *d, size_t n) { (void)r, (void)a, (void)b, (void)c, (void)d, (void)n; return said(f, FAILED, "there are no arrays"); }

FMI int fmi3GetFMUState(fmu *f, void **state) { return kept(f, state); }
FMI int fmi3SetFMUState(fmu *f, void *state) { return done(f, ph_restore(f->model, state)); }
FMI int fmi3FreeFMUState(fmu *f, void **state) { (void)f; return forgotten(state); }
FMI int fmi3SerializedFMUStateSize(fmu *f, void *state, size_t *size) { (void)f, (void)state; *size = ph_state_size(); return GOOD; }
FMI int fmi3SerializeFMUState(fmu *f, void *state, uint8_t *bytes, size_t size) { (void)f; return written(state, (char *)bytes, size); }
FMI int fmi3DeserializeFMUState(fmu *f, const uint8_t *bytes, size_t size, void **state) { return read_back(f, (const char *)bytes, size, state); }

FMI int fmi3GetDirectionalDerivative(fmu *f, const uint32_t *a, size_t n, const uint32_t *b, size_t m, const double *x, size_t k, double *y, size_t l) { return n == l && m == k ? derived(f, a, n, b, m, x, y) : FAILED; }
FMI int fmi3DoStep(fmu *f, double now, double size, bool no_return, bool *events, bool *ends, bool *early, double *last) {
    (void)no_return;
    int status = stepped(f, now, size);
    *events = *ends = *early = false;
    *last = ph_time(f->model);
    return status;
}

/* What only other kinds of FMUs have. */
#define OTHER(name, ...) FMI int name(fmu *f, __VA_ARGS__) { return said(f, FAILED, #name " belongs to other kinds of FMUs"); }
#define OTHER_ALONE(name) FMI int name(fmu *f) { return said(f, FAILED, #name " belongs to other kinds of FMUs"); }
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
OTHER(fmi3GetAdjointDerivative, const uint32_t *a, size_t n, const uint32_t *b, size_t m, const double *x, size_t k, double *y, size_t l)
OTHER_ALONE(fmi3EnterConfigurationMode)
OTHER_ALONE(fmi3ExitConfigurationMode)
OTHER(fmi3GetIntervalDecimal, const uint32_t *r, size_t n, double *x, int *q)
OTHER(fmi3GetIntervalFraction, const uint32_t *r, size_t n, uint64_t *x, uint64_t *y, int *q)
OTHER(fmi3GetShiftDecimal, const uint32_t *r, size_t n, double *x)
OTHER(fmi3GetShiftFraction, const uint32_t *r, size_t n, uint64_t *x, uint64_t *y)
OTHER(fmi3SetIntervalDecimal, const uint32_t *r, size_t n, const double *x)
OTHER(fmi3SetIntervalFraction, const uint32_t *r, size_t n, const uint64_t *x, const uint64_t *y)
OTHER(fmi3SetShiftDecimal, const uint32_t *r, size_t n, const double *x)
OTHER(fmi3SetShiftFraction, const uint32_t *r, size_t n, const uint64_t *x, const uint64_t *y)
OTHER_ALONE(fmi3EvaluateDiscreteStates)
OTHER(fmi3UpdateDiscreteStates, bool *a, bool *b, bool *c, bool *d, bool *e, double *x)
OTHER_ALONE(fmi3EnterContinuousTimeMode)
OTHER(fmi3CompletedIntegratorStep, bool a, bool *b, bool *c)
OTHER(fmi3SetTime, double time)
OTHER(fmi3SetContinuousStates, const double *x, size_t n)
OTHER(fmi3GetContinuousStateDerivatives, double *x, size_t n)
OTHER(fmi3GetEventIndicators, double *x, size_t n)
OTHER(fmi3GetContinuousStates, double *x, size_t n)
OTHER(fmi3GetNominalsOfContinuousStates, double *x, size_t n)
OTHER(fmi3GetNumberOfEventIndicators, size_t *n)
OTHER(fmi3GetNumberOfContinuousStates, size_t *n)
OTHER_ALONE(fmi3EnterStepMode)
OTHER(fmi3GetOutputDerivatives, const uint32_t *r, size_t n, const int32_t *o, double *x, size_t m)
OTHER(fmi3ActivateModelPartition, uint32_t r, double time)
