import { describe, expect, it } from 'vitest'
import { buildReceiver } from '../../test/support/builders.ts'
import { planChannelUnits } from '../domain/equipment/packs.ts'
import { emptyChannel, type Receiver, type Transmitter } from '../domain/equipment/receiver.ts'
import { UnitStore } from './unit-store.ts'

interface Pack {
  readonly name: string | null
  readonly model?: string
  readonly upstream_slot?: number
}

const ann: Pack = { name: 'H01', model: 'ULXD1' }
const ben: Pack = { name: 'H02', model: 'ULXD2' }

function toTransmitter({ name, model, upstream_slot = undefined }: Pack): Transmitter {
  const levels = { battery: 70, audio_level: null, rf_level: null, frequency: null }
  return { ...levels, name, upstream_slot: upstream_slot ?? null, ...(model !== undefined && { details: { model } }) }
}

/** The channels of a receiver get the ids 10, 11, … times the id of the receiver. */
function receiverWith(packs: readonly (Pack | null)[], id = 1): Receiver {
  const channels = packs.map((pack, index) => ({
    ...emptyChannel(id * 10 + index, index + 1, id * 10 + index),
    name: `Mic ${index + 1}`,
    transmitter: pack && toTransmitter(pack),
  }))
  return buildReceiver(id, { channels })
}

/** Receives packs with one store, as ingest does. */
class Reception {
  readonly store = new UnitStore()
  #nextId = 1
  #receivers = new Map<number, Receiver>()

  receive(...packs: readonly (Pack | null)[]): this {
    return this.receiveAt(1, ...packs)
  }

  receiveAt(id: number, ...packs: readonly (Pack | null)[]): this {
    const receiver = receiverWith(packs, id)
    const { drafts, changed } = planChannelUnits(this.store, [receiver], (other) => this.#receivers.get(other))
    this.#receivers.set(id, receiver)
    for (const draft of drafts) this.store.put({ id: this.#nextId++, ...draft })
    for (const unit of changed) this.store.put(unit)
    return this
  }

  /** Returns `<id> <name> <channel>` of each unit. */
  units(): readonly string[] {
    return this.store.list().map(({ id, name, channel_id }) => `${id} ${name} ${channel_id ?? '-'}`)
  }
}

describe('a pack that a channel receives', () => {
  it('stays the same unit while it is switched off, renamed, or reports its model later', () => {
    const reception = new Reception().receive({ name: 'H01' }).receive(ann).receive(null).receive(ann)
    expect(reception.receive({ ...ann, name: 'Nora' }).units()).toEqual(['1 Nora 10'])
    expect(reception.store.ofChannel(10)).toMatchObject({ name: 'Nora', model: 'ULXD1' })
  })

  it('stays the same unit if only its model or its slot differs', () => {
    expect(
      new Reception()
        .receive(ann)
        .receive({ ...ann, model: 'ULXD2' })
        .units(),
    ).toEqual(['1 H01 10'])
    const slot = { name: 'H01', upstream_slot: 1 }
    expect(
      new Reception()
        .receive(slot)
        .receive({ ...slot, upstream_slot: 2 })
        .units(),
    ).toEqual(['1 H01 10'])
  })

  // Conformance: C-21.10.
  it.each([
    ['model', ann, ben],
    ['slot', { name: 'H01', upstream_slot: 1 }, { name: 'H02', upstream_slot: 2 }],
  ])('is another unit if its name and its %s differ', (_, first, second) => {
    const reception = new Reception().receive(first).receive(second)
    expect(reception.units()).toEqual(['1 H01 -', '2 H02 10'])
    expect(reception.store.get(1)).toMatchObject({ channel_id: null, receiver_id: null, name: 'H01' })
    expect(reception.receive(first).units()).toEqual(['1 H01 10', '2 H02 -'])
    const renamed = { ...first, name: 'Nora' }
    expect(reception.receive(renamed).receive(second).units()).toEqual(['1 Nora -', '2 H02 10'])
  })

  it.each([
    ['the name first', [{ ...ann, name: 'H02' }]],
    ['the model first', [{ ...ann, model: 'ULXD2' }]],
    ['no name first', [{ name: null, model: 'ULXD2' }]],
  ])('is another unit if its values arrive one by one, %s', (_, between) => {
    const reception = new Reception().receive(ann)
    for (const pack of between) reception.receive(pack)
    expect(reception.receive(ben).units()).toEqual(['1 H01 -', '2 H02 10'])
    expect(reception.store.get(1)).toMatchObject({ name: 'H01', model: 'ULXD1' })
  })

  it('moves with its unit to the channel that receives it now', () => {
    const exchanged = new Reception().receive(ann, ben).receive(ben, ann)
    expect(exchanged.units()).toEqual(['1 H01 11', '2 H02 10'])
    const elsewhere = new Reception().receive(ann).receive(null).receiveAt(2, ann)
    expect(elsewhere.units()).toEqual(['1 H01 20'])
    expect(elsewhere.receive(ben).units()).toEqual(['1 H01 20', '2 H02 10'])
  })

  it('is a unit of its own while another pack of its name and model is received, or if several exist', () => {
    const twice = new Reception().receive(ann).receiveAt(2, ann)
    expect(twice.units()).toEqual(['1 H01 10', '2 H01 20'])
    expect(twice.receive(null).receiveAt(2, null).receiveAt(3, ann).units()).toEqual([
      '1 H01 10',
      '2 H01 20',
      '3 H01 30',
    ])
  })

  it('does not take the unit of another channel without a name or a model', () => {
    expect(new Reception().receive({ name: 'TX' }).receive(null).receiveAt(2, { name: 'TX' }).units()).toHaveLength(2)
    const unnamed = { name: null, model: 'ULXD1' }
    expect(new Reception().receive(unnamed).receive(null).receiveAt(2, unnamed).units()).toHaveLength(2)
  })

  it('is forgotten with the receiver that received it last', () => {
    const reception = new Reception().receive(ann).receive(ben)
    reception.store.removeReceiver(1)
    expect(reception.units()).toEqual(['1 H01 -'])
  })
})
