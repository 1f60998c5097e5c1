/**
 * Simulates the RF and audio levels of a performer's transmitter as pure functions of the elapsed time. A seed gives
 * the same value at the same time, in any order of calls.
 */

/** The kind of audio on a channel; determines its rhythm. */
export type Part = 'speech' | 'song' | 'instrument'

const rfFloor = -108
const silence = -90
/** The receiver mutes below this level in dBm. */
const squelch = -95

/** Returns the levels of a channel whose transmitter is on. */
export function signalAt(seed: number, part: Part, elapsedMs: number): { audio_level: number; rf_level: number } {
  const rf_level = rfAt(seed, elapsedMs)
  const audio_level = rf_level < squelch ? silence : audioAt(seed, part, elapsedMs)
  return { audio_level, rf_level }
}

/** True while the receiver mutes the channel, because RF is too weak. */
export function isSquelched(seed: number, elapsedMs: number): boolean {
  return rfAt(seed, elapsedMs) < squelch
}

/** Returns the noise of a channel without a transmitter. */
export function noiseAt(seed: number, elapsedMs: number): { audio_level: number; rf_level: number } {
  return { audio_level: silence, rf_level: Math.round(rfFloor + 2 + 2 * smoothNoise(seed + 7, elapsedMs, 2_000)) }
}

/** Combines average distance, movement, shadowing, fading and occasional dropouts. */
function rfAt(seed: number, elapsedMs: number): number {
  const usual = -48 - 14 * chance(seed, 1)
  const walking = 8 * smoothNoise(seed + 1, elapsedMs, 19_000)
  const shadowing = 5 * smoothNoise(seed + 2, elapsedMs, 3_100)
  const fading = 2.5 * smoothNoise(seed + 3, elapsedMs, 370)
  return clamp(Math.round(usual + walking + shadowing + fading - dropout(seed, elapsedMs)), -110, -20)
}

/** One minute in forty has a dropout of 0.5 to 2.5 seconds. */
function dropout(seed: number, elapsedMs: number): number {
  const minute = Math.floor(elapsedMs / 60_000)
  const span = findDropout(seed, minute)
  if (span === null || elapsedMs < span.fromMs || elapsedMs > span.toMs) return 0
  return 46 * Math.sin((Math.PI * (elapsedMs - span.fromMs)) / (span.toMs - span.fromMs))
}

/** Returns the dropout in a minute of the show in milliseconds since its start, or null. */
export function findDropout(seed: number, minute: number): { readonly fromMs: number; readonly toMs: number } | null {
  if (chance(seed + 4, minute) > 0.025) return null
  const fromMs = 60_000 * minute + 5_000 + 50_000 * chance(seed + 5, minute)
  return { fromMs, toMs: fromMs + 500 + 2_000 * chance(seed + 6, minute) }
}

function audioAt(seed: number, part: Part, elapsedMs: number): number {
  switch (part) {
    case 'speech':
      return speech(seed, elapsedMs)
    case 'song':
      return song(seed, elapsedMs)
    case 'instrument':
      return instrument(seed, elapsedMs)
    default:
      return part satisfies never
  }
}

/** About four syllables a second in sentences of about five seconds, with pauses between them. */
function speech(seed: number, elapsedMs: number): number {
  if (isPausing(seed, elapsedMs, 5_200)) return ambientLevel(seed, elapsedMs)
  const syllables = elapsedMs / 238 + 10 * chance(seed, 20)
  const number = Math.floor(syllables)
  const swell = Math.sin(Math.PI * (syllables - number))
  const stress = chance(seed + 21, number)
  const laugh = stress > 0.985 ? 9 : 0
  return toDbfs(-38 + 12 * stress + 14 * swell + laugh)
}

/** Notes of two thirds of a second, sung in phrases; the loudest are close to full scale. */
function song(seed: number, elapsedMs: number): number {
  if (isPausing(seed, elapsedMs, 9_500)) return ambientLevel(seed, elapsedMs)
  const notes = elapsedMs / 660 + 10 * chance(seed, 30)
  const number = Math.floor(notes)
  const swell = Math.sin(Math.PI * (notes - number)) ** 0.5
  const vibrato = Math.sin(elapsedMs / 29)
  return toDbfs(-28 + 17 * chance(seed + 31, number) + 6 * swell + vibrato)
}

/** Continuous, with a pulse on every beat. */
function instrument(seed: number, elapsedMs: number): number {
  const beats = elapsedMs / 500
  const decay = 5 * (beats - Math.floor(beats))
  return toDbfs(-14 + 3 * smoothNoise(seed + 40, elapsedMs, 8_000) - decay + 2 * chance(seed + 41, Math.floor(beats)))
}

/** A performer on stage rarely pauses, and one off stage rarely speaks. Every phrase ends with a pause. */
function isPausing(seed: number, elapsedMs: number, phraseMs: number): boolean {
  const presence = chance(seed + 10, Math.floor(elapsedMs / 90_000)) > 0.35 ? 0.8 : 0.15
  const phrases = elapsedMs / phraseMs + chance(seed, 11)
  const number = Math.floor(phrases)
  return chance(seed + 12, number) > presence || phrases - number > 0.86
}

function ambientLevel(seed: number, elapsedMs: number): number {
  return toDbfs(-66 + 4 * smoothNoise(seed + 50, elapsedMs, 700))
}

/** Returns a deterministic hash of two numbers, uniformly distributed in [0, 1). */
export function chance(seed: number, n: number): number {
  let mixed = Math.imul(seed ^ Math.imul(n + 0x7f4a7c15, 0x9e3779b1), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x27d4eb2f)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000
}

/** Returns smooth noise from -1 to 1, which moves to a new random value every `periodMs`. */
export function smoothNoise(seed: number, elapsedMs: number, periodMs: number): number {
  const position = elapsedMs / periodMs + chance(seed, 0)
  const step = Math.floor(position)
  const offset = position - step
  const eased = offset * offset * (3 - 2 * offset)
  const from = chance(seed, step)
  return 2 * (from + (chance(seed, step + 1) - from) * eased) - 1
}

function toDbfs(level: number): number {
  return clamp(Math.round(level), silence, 0)
}

function clamp(value: number, low: number, high: number): number {
  // Math.round may return -0; adding 0 makes it +0.
  return Math.min(high, Math.max(low, value)) + 0
}
