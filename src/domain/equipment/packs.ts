/** Distinguishes the packs that a channel receives one after the other. */

import { draftChannelUnit, type ReportedUnits, type Unit, type UnitDraft } from './hardware.ts'
import type { Channel, Receiver } from './receiver.ts'

/** Distinguishes packs. No equipment reports serial numbers of the packs that it receives. */
export type PackIdentity = Pick<Unit, 'name' | 'model' | 'upstream_slot'>

/** The known channel units. */
export interface PackIndex {
  ofChannel(channelId: number): Unit | undefined
  /** Returns the values before the changes of the last few seconds, because equipment reports them one by one. */
  identityOf(unit: Unit): PackIdentity
  named(manufacturer: string, name: string): Iterable<Unit>
}

/**
 * Finds new, renamed and exchanged packs on the channels of these receivers. A pack that is received on another channel
 * than before moves there. The pack that a channel received before then belongs to no channel. `receiverOf` returns
 * receivers that are not in the list.
 */
export function planChannelUnits(
  known: PackIndex,
  receivers: readonly Receiver[],
  receiverOf: (id: number) => Receiver | undefined,
): ReportedUnits {
  const listed = new Map(receivers.map((receiver) => [receiver.id, receiver]))
  const drafts: UnitDraft[] = []
  const changed = new Map<number, Unit>()

  /** Undefined if the pack is received on another channel, or if several packs have this name and model. */
  const findReturned = ({ manufacturer, name, model }: UnitDraft): Unit | undefined => {
    let found: Unit | undefined
    for (const unit of known.named(manufacturer, name ?? '')) {
      if (unit.model !== model) continue
      const current = changed.get(unit.id) ?? unit
      if (found !== undefined || isReceived(current)) return undefined
      // Many packs have the same default name, so a pack of unknown model stays on its channel.
      if (current.channel_id === null || model !== null) found = current
    }
    return found
  }
  const isReceived = (unit: Unit): boolean => {
    if (unit.channel_id === null) return false
    if (changed.has(unit.id)) return true
    const receiver = listed.get(unit.receiver_id ?? 0) ?? receiverOf(unit.receiver_id ?? 0)
    const channel = receiver?.is_active ? receiver.channels.find(({ id }) => id === unit.channel_id) : undefined
    return channel !== undefined && channel.transmitter !== null && !isAnotherPack(known.identityOf(unit), channel)
  }
  const planChannel = (receiver: Receiver, channel: Channel) => {
    const draft = draftChannelUnit(receiver, channel)
    const unit = known.ofChannel(channel.id)
    if (unit !== undefined) {
      const previous = [unit, known.identityOf(unit)].find((identity) => isAnotherPack(identity, channel))
      if (previous === undefined) {
        const updated = { ...unit, ...knownValues(draft) }
        if (!hasSameIdentity(unit, updated)) changed.set(unit.id, updated)
        return
      }
      if (!changed.has(unit.id)) {
        const { name, model, upstream_slot } = previous
        changed.set(unit.id, { ...unit, name, model, upstream_slot, channel_id: null, receiver_id: null })
      }
    }
    const returned = channel.transmitter?.name == null ? undefined : findReturned(draft)
    if (returned === undefined) drafts.push(draft)
    else {
      const { channel_id, receiver_id, upstream_slot } = draft
      changed.set(returned.id, { ...returned, channel_id, receiver_id, upstream_slot })
    }
  }
  for (const receiver of receivers) {
    for (const channel of receiver.channels) if (channel.transmitter !== null) planChannel(receiver, channel)
  }
  return { drafts, changed: [...changed.values()] }
}

/** A pack that was renamed, or whose model became known, is the same one. */
function isAnotherPack(known: PackIdentity, { transmitter }: Pick<Channel, 'transmitter'>): boolean {
  if (transmitter === null || !differs(known.name, transmitter.name)) return false
  return differs(known.model, transmitter.details?.model) || differs(known.upstream_slot, transmitter.upstream_slot)
}

export function hasSameIdentity(a: PackIdentity, b: PackIdentity): boolean {
  return a.name === b.name && a.model === b.model && a.upstream_slot === b.upstream_slot
}

function differs<T>(known: T | null, reported: T | null | undefined): boolean {
  return known !== null && reported != null && known !== reported
}

function knownValues({ name, model, upstream_slot }: PackIdentity): Partial<PackIdentity> {
  return {
    ...(name !== null && { name }),
    ...(model !== null && { model }),
    ...(upstream_slot !== null && { upstream_slot }),
  }
}
