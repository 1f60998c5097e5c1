import { describe, expect, it } from 'vitest'
import { emptyFields, isEmptyEntry, mergeFields, type SlotFields } from './slot-entry.ts'
import { titleOf } from './slot-record.ts'

describe('the title of a slot', () => {
  const all = { performer: 'Nora', label: 'Lead', channel: 'Mic 7', transmitter: 'H02', receiver: 'FOH-1 2' }

  // Conformance: C-21.3.
  it.each([
    [all, 'Nora', 'performer'],
    [{ ...all, performer: null }, 'Lead', 'label'],
    [{ ...all, performer: null, label: '' }, 'Mic 7', 'channel'],
    [{ transmitter: 'H02', receiver: 'FOH-1 2' }, 'H02', 'transmitter'],
    [{ receiver: 'FOH-1 2' }, 'FOH-1 2', 'receiver'],
    [{}, null, null],
  ] as const)('of %o is %s, from %s', (names, title, title_from) => {
    expect(titleOf(names)).toEqual({ title, title_from })
  })
})

describe('merged entries', () => {
  // Conformance: C-21.4.
  it('keep what the placeholder has, and complete it with what the channel has', () => {
    const planned = { frequency: '470.300', profile: null, transmitter: null }
    const placeholder = { ...emptyFields, label: 'Lead', performer: 3, planned }
    const channel: SlotFields = {
      ...{ label: 'Spare', color: 'red' as const, performer: 4, role: 'Glinda', note: 'Wig', spares: [9] },
      planned: { frequency: '500.000', profile: 'a', transmitter: 'H02' },
    }
    expect(mergeFields(placeholder, channel)).toEqual({
      ...{ label: 'Lead', color: 'red', performer: 3, role: null, note: 'Wig', spares: [9] },
      planned: { frequency: '470.300', profile: 'a', transmitter: 'H02' },
    })
    expect(mergeFields(emptyFields, channel)).toEqual(channel)
  })

  it('are empty if neither has anything', () => {
    expect(isEmptyEntry(mergeFields(emptyFields, emptyFields))).toBe(true)
    expect(isEmptyEntry({ ...emptyFields, spares: [1] })).toBe(false)
  })
})
