/** The rule for titles, for tests of single parts. */

import { type TitleOf, titleOfChannel } from '../../src/domain/equipment/slot-record.ts'
import { PlaceholderStore } from '../../src/ingest/placeholder-store.ts'
import type { ReceiverStore } from '../../src/ingest/receiver-store.ts'
import { UnitStore } from '../../src/ingest/unit-store.ts'
import { Cast } from '../../src/lists/cast.ts'
import { SlotRecords } from '../../src/lists/slot-records.ts'

/** Builds the rule with performers by channel id. */
export function buildTitles(performers: Readonly<Record<number, string>> = {}): TitleOf {
  return (receiver, channel) => titleOfChannel(receiver, channel, { performer: performers[channel.id] ?? null })
}

/** Builds the records of slots, without performers. */
export function buildSlotRecords(receiverStore: ReceiverStore, placeholderStore = new PlaceholderStore()): SlotRecords {
  const unitStore = new UnitStore()
  return new SlotRecords(receiverStore, placeholderStore, unitStore, new Cast(unitStore, ''))
}
