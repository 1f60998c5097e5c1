import { expect, it } from 'vitest'
import { addSample, formatSamples, parseSamples, type Sample, unknownAt } from './session-history.ts'

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
