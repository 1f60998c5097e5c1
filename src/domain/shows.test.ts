import { describe, expect, it } from 'vitest'
import { RequestError } from './errors.ts'
import {
  changePlan,
  end,
  listChannelsOfShow,
  listShowChanges,
  requireGroups,
  requireNotRunning,
  type Show,
  start,
  toShowBody,
} from './shows.ts'

const planned: Show = {
  id: 1,
  title: 'Matinee',
  starts_at: 1_000,
  ends_at: 9_000,
  group_ids: [],
  notes: '',
  started_at: null,
  ended_at: null,
  channel_ids: null,
  scenes_revision: 0,
  version: 1,
}
const running = start(planned, 2_000)
const ended = end(running, 8_000, [11, 12])

function rejection(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof RequestError) return `${error.status} ${error.details ?? error.message}`
    throw error
  }
  return 'none'
}

describe('a show', () => {
  // Conformance: C-13.9.
  it('is planned, then running, then ended', () => {
    expect([planned, running, ended].map((show) => toShowBody(show).state)).toEqual(['planned', 'running', 'ended'])
    expect(toShowBody(ended)).toEqual({
      ...{ id: 1, title: 'Matinee', state: 'ended', group_ids: [], notes: '', version: 1 },
      ...{ starts_at: '1970-01-01T00:00:01.000Z', ends_at: '1970-01-01T00:00:09.000Z' },
      ...{ started_at: '1970-01-01T00:00:02.000Z', ended_at: '1970-01-01T00:00:08.000Z' },
    })
    expect(end(running, 1_500, []).ended_at).toBe(2_000)
  })

  // Conformance: C-13.10.
  it('changes its state only in this order, and is not deleted while it runs', () => {
    expect(rejection(() => start(running, 3_000))).toBe('409 The show is already running.')
    expect(rejection(() => start(ended, 9_000))).toBe('409 The show has ended and cannot be started again.')
    expect(rejection(() => end(planned, 3_000, []))).toBe('409 The show is not running.')
    expect(rejection(() => end(ended, 9_000, []))).toBe('409 The show is not running.')
    expect([planned, running, ended].map((show) => rejection(() => requireNotRunning(show)).slice(0, 4))).toEqual([
      'none',
      '409 ',
      'none',
    ])
  })

  it.each([
    ['an end at the start', planned, { ends_at: 1_000 }, '400 ends_at: expected a time after starts_at'],
    ['a start after the end', planned, { starts_at: 9_001 }, '400 ends_at: expected a time after starts_at'],
    ['no end', planned, { ends_at: null, starts_at: 99_000 }, 'none'],
    ['other groups while it runs', running, { group_ids: [4] }, 'none'],
    ['other groups after its end', ended, { group_ids: [4] }, '409 The channels of an ended show cannot be changed.'],
    ['notes after its end', ended, { notes: 'Sold out', group_ids: [] }, 'none'],
  ])('is checked for %s', (_name, show, change, expected) => {
    expect(rejection(() => changePlan(show, change))).toBe(expected)
  })

  it('may keep groups that were removed, but gets no unknown ones', () => {
    const groups = [{ id: 3 }]
    expect(rejection(() => requireGroups({ group_ids: [3, 4] }, groups))).toBe('400 group_ids: there is no group 4')
    expect(rejection(() => requireGroups({ group_ids: [3, 4] }, groups, [4]))).toBe('none')
  })

  // Conformance: C-13.11.
  it('has the channels of its groups, or all; they are fixed at its end', () => {
    const channels = [
      { id: 11, slot: 1 },
      { id: 12, slot: 2 },
      { id: 13, slot: 3 },
    ]
    const groups = [
      { id: 3, slots: [3, 2, 99] },
      { id: 4, slots: [1] },
    ]
    const listChannels = (show: Show) => listChannelsOfShow(show, channels, groups)
    expect(listChannels(planned)).toEqual([11, 12, 13])
    expect(listChannels({ ...planned, group_ids: [3] })).toEqual([12, 13])
    expect(listChannels({ ...planned, group_ids: [77] })).toEqual([])
    expect(listChannels({ ...ended, group_ids: [3] })).toEqual([11, 12])
  })

  it('is announced when it changes, and when it is deleted', () => {
    const other = { ...planned, id: 2 }
    expect(listShowChanges([planned, other], [planned, other])).toEqual([])
    expect(listShowChanges([planned, other], [running])).toEqual([
      toShowBody(running),
      { ...toShowBody(other), state: 'deleted' },
    ])
  })
})
