import { describe, expect, test } from 'vitest'
import { emptyChannel } from '../equipment/receiver.ts'
import { resolveThresholds } from './condition.ts'
import {
  createWatch,
  createWatchedValues,
  isStretchTrue,
  nextStretchChange,
  readWatchedValues,
  rowTrueUntil,
  stretches,
  updateWatch,
  type WatchedValues,
} from './level-watch.ts'

const thresholds = resolveThresholds({}, {}, [])

function open() {
  const watch = createWatch()
  const update = (values: Partial<WatchedValues>, at: number) =>
    updateWatch(watch, { ...createWatchedValues(), hasTransmitter: true, ...values }, thresholds, at)
  return { watch, update }
}

test('a row is true until its last stretch ended, however long it is held', () => {
  const { watch, update } = open()
  expect(rowTrueUntil(watch, 'clipping', 0)).toBe(Number.NEGATIVE_INFINITY)
  update({ peak: 0 }, 100)
  expect(rowTrueUntil(watch, 'clipping', 150)).toBe(Number.POSITIVE_INFINITY)
  update({ peak: -20, isOverloaded: true }, 200)
  update({ peak: -20 }, 400)
  expect(rowTrueUntil(watch, 'clipping', 5000)).toBe(400)
  update({ rf: -90 }, 6000)
  update({ rf: -50 }, 6500)
  expect(rowTrueUntil(watch, 'rf_weak', 9000)).toBe(Number.NEGATIVE_INFINITY)
})

describe('updateWatch', () => {
  test('returns whether a stretch began or ended', () => {
    const { update } = open()
    expect(update({ rf: -50 }, 0)).toBe(false)
    expect(update({ rf: -90 }, 100)).toBe(true)
    expect(update({ rf: -92 }, 200)).toBe(false)
    expect(update({ rf: -50 }, 300)).toBe(true)
    expect(update({ rf: -50 }, 400)).toBe(false)
  })

  test('takes the beginning and the end of a stretch from the samples', () => {
    const { watch, update } = open()
    update({ rf: -90 }, 130)
    update({ rf: -90 }, 900)
    expect(nextStretchChange(watch, stretches.weak, 950)).toBe(1130)
    expect(isStretchTrue(watch, stretches.weak, 1129)).toBe(false)
    expect(isStretchTrue(watch, stretches.weak, 1130)).toBe(true)
    expect(nextStretchChange(watch, stretches.weak, 1130)).toBe(Number.POSITIVE_INFINITY)
    update({ rf: -50 }, 1530)
    expect(nextStretchChange(watch, stretches.weak, 1600)).toBe(4530)
    expect(isStretchTrue(watch, stretches.weak, 4529)).toBe(true)
    expect(isStretchTrue(watch, stretches.weak, 4530)).toBe(false)
  })

  test('evaluates nothing that is unknown', () => {
    const { watch, update } = open()
    update({}, 0)
    update({ hasTransmitter: false }, 1000)
    for (const stretch of Object.values(stretches)) expect(isStretchTrue(watch, stretch, 1e9)).toBe(false)
  })
})

describe('readWatchedValues', () => {
  test('reads the record of a channel', () => {
    const values = createWatchedValues()
    readWatchedValues(
      {
        ...emptyChannel(1, 1, 1),
        rf_level: -99,
        audio_level: -9,
        transmitter: {
          upstream_slot: null,
          name: null,
          battery: null,
          frequency: null,
          rf_level: -51,
          audio_level: -21,
          details: { muted: true },
        },
        details: {
          antennas: 'BD',
          rf_a: -1,
          rf_b: -2,
          rf_c: -3,
          rf_d: -4,
          quality: 5,
          interference: true,
          overload: true,
          rf_concealed: true,
        },
      },
      values,
    )
    expect(values).toEqual({
      hasTransmitter: true,
      isMuted: true,
      isInterfered: true,
      isOverloaded: true,
      isConcealed: true,
      rf: -51,
      rfA: -1,
      rfB: -2,
      rfC: -3,
      rfD: -4,
      antennas: 0b1010,
      quality: 5,
      peak: -21,
      audioFloor: null,
    })
  })

  test('overwrites all values of the previous channel', () => {
    const values = createWatchedValues()
    for (const key of ['isMuted', 'isInterfered', 'isOverloaded', 'isConcealed', 'hasTransmitter'] as const)
      values[key] = true
    for (const key of ['rf', 'rfA', 'rfB', 'rfC', 'rfD', 'antennas', 'quality', 'peak'] as const) values[key] = 1
    readWatchedValues(emptyChannel(1, 1, 1), values)
    expect(values).toEqual(createWatchedValues())
  })
})
