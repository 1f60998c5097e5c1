import { expect, it } from 'vitest'
import {
  addSample,
  eraseAfter,
  formatSamples,
  parseSamples,
  type Sample,
  summarizeSamples,
  unknownAt,
} from './session-history.ts'

const sample = (at: number): Sample => ({ ...unknownAt(at), rf: -50, audio: -20, battery: 80 })

it('appends consecutive samples, and adds a gap for the time the page was closed', () => {
  const near = addSample([sample(10)], sample(12))
  expect(near).toEqual([sample(10), sample(12)])
  expect(addSample(near, sample(60))[2]).toEqual(unknownAt(13))
})

it('adds one sample per second and ignores a clock that goes backwards', () => {
  const samples = [sample(10)]
  expect(addSample(samples, sample(10))).toBe(samples)
  expect(addSample(samples, sample(9))).toBe(samples)
})

it('drops the oldest samples', () => {
  let samples: readonly Sample[] = Array.from({ length: 10_800 }, (_, at) => sample(at))
  samples = addSample(samples, sample(10_800))
  expect([samples.length, samples[0]?.at]).toEqual([10_800, 1])
})

it.each(['', 'null', '{}', '[1,[2]]', '[["a",1,2,3,4]]', '[[1,"x",2,3,4]]', '[[1,2,3,4]]'])(
  'ignores invalid data: %s',
  (text) => {
    expect(parseSamples(text)).toEqual([])
  },
)

it('parses what it formats', () => {
  const samples = addSample([sample(1)], { ...unknownAt(90), rfPercent: 51 })
  expect(parseSamples(formatSamples(samples))).toEqual(samples)
})

it('erases the values after the last received one', () => {
  const samples = [sample(10), sample(11), sample(12)]
  expect(eraseAfter(samples, 10.4)).toEqual([sample(10), unknownAt(11), unknownAt(12)])
  expect(eraseAfter(samples, 12)).toBe(samples)
  const erased = eraseAfter(samples, 0)
  expect(eraseAfter(erased, 0)).toBe(erased)
})

it('summarizes samples as ranges, newest first, with extremes and the last battery level', () => {
  const samples = Array.from({ length: 120 }, (_, at) => ({ ...sample(at), rf: -at - 1, audio: at - 120, battery: 80 }))
  expect(summarizeSamples(samples, 4)).toEqual([
    { from: 60, minRf: -120, maxRf: -61, maxAudio: -1, battery: 80 },
    { from: 0, minRf: -60, maxRf: -1, maxAudio: -61, battery: 80 },
  ])
  expect(summarizeSamples(samples, 200)).toHaveLength(120)
  expect(summarizeSamples([unknownAt(5)], 4)).toEqual([
    { from: 5, minRf: null, maxRf: null, maxAudio: null, battery: null },
  ])
  expect(summarizeSamples([], 4)).toEqual([])
})
