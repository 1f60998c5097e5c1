import { expect, it } from 'vitest'
import type { DataAtTimeBody } from '../../../src/contract/history.ts'
import type { ChannelAssignment } from '../../../src/contract/performers.ts'
import { receiver } from '../../../test/support/browser/fake-service.ts'
import { buildSlotRecord } from '../../../test/support/builders.ts'
import { slotRecordsAt } from './slot-records-at.ts'

// Conformance: C-21.22.
it('has the performers of then, and the labels and placeholders of today', () => {
  const nora = { id: 3, name: 'Nora', picture: '/api/pictures/3' }
  const today = [
    buildSlotRecord(1, { title: 'Nora', title_from: 'performer', performer: nora, role: 'Glinda', label: 'Lead' }),
    buildSlotRecord(2, { title: 'Nora', title_from: 'performer', performer: nora, label: 'Spare', color: 'red' }),
    buildSlotRecord(3),
    buildSlotRecord(9, { channel_id: null, placeholder_id: 1, title: 'Piano', title_from: 'label', label: 'Piano' }),
  ]
  const of = (channel_id: number, performer: ChannelAssignment['performer']) => {
    return { channel_id, wireless_unit: channel_id, performer }
  }
  const data = {
    receivers: [receiver(1, [{}, {}, { name: 'Mic 3' }])],
    assignments: [of(1, { id: 3, name: 'Nora before' }), of(3, { id: null, name: 'Visitor' })],
  } as unknown as DataAtTimeBody
  const slotRecords = new Map(today.map((record) => [record.slot, record]))
  const performers = [{ id: 3, name: 'Nora', notes: '', picture: nora.picture, version: 1 }]
  expect(slotRecordsAt(data, { slotRecords, performers })).toMatchObject([
    {
      slot: 1,
      title: 'Nora before',
      title_from: 'performer',
      performer: { ...nora, name: 'Nora before' },
      role: 'Glinda',
    },
    { slot: 2, title: 'Spare', title_from: 'label', performer: null, role: null, color: 'red' },
    { slot: 3, title: 'Visitor', title_from: 'performer', performer: null },
    { slot: 9, title: 'Piano' },
  ])
})
