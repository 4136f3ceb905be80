/* A model made by phlexible: steps without Python, without memory of its own, without output.

   Link the library, or this header's functions are found in it at run time. All numbers are in SI units, angles in
   radians. Several instances may run at once, each in one thread at a time; nothing is shared between them. Functions
   that return a status return PH_OK or what went wrong; none of them ends the program. */

#ifndef PHLEXIBLE_MODEL_H
#define PHLEXIBLE_MODEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(PH_HIDDEN)
#define PH_API
#elif defined(PH_BUILDS) && defined(_WIN32)
#define PH_API __declspec(dllexport)
#elif defined(PH_BUILDS) && defined(__wasm__)
#define PH_API __attribute__((visibility("default"), used))
#elif defined(PH_BUILDS)
#define PH_API __attribute__((visibility("default")))
#else
#define PH_API
#endif

typedef struct ph_model ph_model;

typedef enum ph_status_code {
    PH_OK = 0,
    PH_NOT_CONVERGED = 1,   /* a step has no solution that Newton's method finds, however short its parts */
    PH_SINGULAR = 2,        /* nor a matrix: a joint at a dead point */
    PH_WRONG_ARGUMENT = 3,  /* no such input or output, a negative count, a null address */
    PH_NOT_FINITE = 4,      /* an input that is no finite number; the one before stays */
    PH_OVER = 5,            /* a function of time is known up to here only: build with a longer duration */
    PH_WRONG_STATE = 6,     /* saved by another model, or damaged; the instance stays as it was */
    PH_OUT_OF_RANGE = 7,    /* a parameter outside of its range; the one before stays */
    PH_FIXED = 8            /* a parameter that moves the start or the joints, after the first step */
} ph_status_code;

/* What the library is. */
PH_API const char *ph_name(void);
PH_API const char *ph_version(void);            /* of phlexible that made it */
PH_API double ph_step_size(void);               /* [s] */
PH_API int ph_input_count(void);
PH_API const char *ph_input_name(int input);    /* NULL: there is none of this number */
PH_API const char *ph_input_unit(int input);
PH_API int ph_input_size(int input);            /* how many numbers: 1, or 3 of a load; -1: there is none */
PH_API int ph_output_count(void);
PH_API const char *ph_output_name(int output);
PH_API const char *ph_output_unit(int output);
PH_API int ph_output_size(int output);
PH_API int ph_parameter_count(void);
PH_API const char *ph_parameter_name(int parameter);
PH_API const char *ph_parameter_unit(int parameter); /* "" where it was not said */
PH_API int ph_parameter_range(int parameter, double *low, double *usual, double *high);
PH_API int ph_parameter_is_tunable(int parameter); /* 1: it may change between steps; 0: at the start only */

/* An instance lives in ph_size() bytes of the caller, which need no alignment and outlive it. */
PH_API size_t ph_size(void);
PH_API ph_model *ph_place(void *memory);        /* at the start, with the inputs of the model; NULL of NULL */
PH_API int ph_reset(ph_model *model);           /* back there; parameters stay */

/* Other numbers of a model of the same structure, as phlexible wrote them (.tables); they outlive the instance, begin at
   a multiple of 8 bytes, and bring it to their start. */
PH_API int ph_load_tables(ph_model *model, const void *tables, size_t size);

/* Steps. One that fails leaves the instance where that step began, and ph_status says so until one succeeds. */
PH_API int ph_step(ph_model *model, int count);
PH_API int ph_step_to(ph_model *model, double time); /* whole steps, and a shorter one up to the time [s] */
PH_API int ph_begin_at(ph_model *model, double time); /* of the start, where nothing is a function of time */
PH_API double ph_time(const ph_model *model);   /* reached so far [s] */
PH_API int ph_status(const ph_model *model);    /* of the last ph_step */
PH_API const char *ph_message(int status);      /* in words */

/* Inputs hold in the steps to come; outputs are those of the time reached. Accelerations are found, all at once where
   one is asked for, from a step forwards and one backwards with the inputs as they are, which leave no trace;
   PH_NOT_CONVERGED: there are no such steps. */
PH_API int ph_set_input(ph_model *model, int input, const double *values);
PH_API int ph_get_input(const ph_model *model, int input, double *values);
PH_API int ph_get_output(ph_model *model, int output, double *values);

/* Numbers of the model, within the ranges that it was built for. Before the first step the start follows; between steps
   places and velocities stay, and what the energy changes by counts as dissipated. */
PH_API int ph_set_parameter(ph_model *model, int parameter, double value);
PH_API int ph_get_parameter(const ph_model *model, int parameter, double *value);

/* States as bytes: steps after ph_restore have the digits of those after ph_save, in any instance of this library. */
PH_API size_t ph_state_size(void);
PH_API int ph_save(const ph_model *model, void *state);
PH_API int ph_restore(ph_model *model, const void *state);

#ifdef __cplusplus
}
#endif

#if !defined(PH_BUILDS) && !defined(PH_NO_MALLOC)
#include <stdlib.h>

/* An instance in memory of malloc, for programs that have it; NULL: there is none. */
static inline ph_model *ph_new(void) { return ph_place(malloc(ph_size())); }

#ifdef __cplusplus
static inline void ph_free(ph_model *model) { free(static_cast<void *>(model)); }
#else
static inline void ph_free(ph_model *model) { free(model); }
#endif
#endif

#endif
