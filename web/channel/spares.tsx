/** The spares of a slot. They are offered first when it is swapped. */

import { useState } from 'react'
import type { SlotRecord } from '../../src/contract/slots.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useServices, useSlotRecord } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { formatSlots, parseSlots, slotsProblem, useSlotContents } from '../parts/channels/slots.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { useShowUndoable } from '../parts/dialogs/messages.tsx'
import { Field } from '../parts/forms/field.tsx'
import { focused } from '../parts/forms/focused.ts'
import type { Sending } from '../parts/forms/use-edit.tsx'
import { SwapButton } from '../parts/slots/swap-button.tsx'
import { StateIcon } from '../parts/state-icon.tsx'

interface SparesProps {
  readonly facts: ChannelFacts
  onSwap(): void
}

export function Spares({ facts, onSwap }: SparesProps) {
  const record = useSlotRecord(facts.slot)
  const contents = useSlotContents(record?.spares ?? [])
  const mayOperate = useMay('operate')
  const [isEditing, setEditing] = useState(false)
  if (record === undefined) return null
  return (
    <section className="detail-part">
      <h2>{t('swap.spares')}</h2>
      {contents.length === 0 ? <p>{t('swap.noSpares')}</p> : null}
      <ul className="spares">
        {contents.map((spare) => (
          <li key={spare.slot}>
            {spare.facts === null ? null : <StateIcon state={spare.facts.state} />}
            <small>{spare.slot}</small> <bdi>{spare.name}</bdi>
          </li>
        ))}
      </ul>
      {mayOperate ? (
        <p className="spares-actions">
          <SwapButton facts={facts} className="choice" onPress={onSwap} />
          <button type="button" className="choice" onClick={() => setEditing(true)}>
            {t('swap.edit')}
          </button>
        </p>
      ) : null}
      {isEditing ? <SparesDialog record={record} onClose={() => setEditing(false)} /> : null}
    </section>
  )
}

function SparesDialog({ record, onClose }: { record: SlotRecord; onClose(): void }) {
  const { slot } = record
  const { api } = useServices()
  const showUndoable = useShowUndoable()
  const send = async (values: FormData, { version }: Sending<SlotRecord>) => {
    const read = parseSlots(String(values.get('spares')))
    const body = { spares: read.ok ? read.slots : [] }
    const response = await api.write('PUT', `/api/slots/${slot}/`, body, 'object', version)
    if (response.ok) showUndoable(t('swap.saved', { slot }), [response.undoId])
    return response
  }
  return (
    <FormDialog
      title={t('swap.editTitle', { slot })}
      action={t('swap.save')}
      check={(values) => slotsProblem(values, 'spares')}
      edit={{ address: `/api/slots/${slot}/?spares`, record, latest: record }}
      send={send}
      onDone={onClose}
      onClose={onClose}
    >
      {({ spares }) => (
        <Field
          name="spares"
          label={t('swap.spares')}
          hint={t('swap.editHint')}
          defaultValue={formatSlots(spares)}
          required={false}
          {...focused}
          autoComplete="off"
        />
      )}
    </FormDialog>
  )
}
