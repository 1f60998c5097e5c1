import type { Group } from '../../../src/contract/groups.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useSelection } from '../../app/selection.ts'
import type { View } from '../../app/view.ts'
import { FormDialog } from '../dialogs/form-dialog.tsx'
import { Field } from '../forms/field.tsx'
import { BulkBar } from '../tables/bulk-actions.tsx'
import { useSlotContents } from './slots.ts'
import { decodeSlots, useVisibleSlots } from './visible-slots.ts'

interface NewGroupProps {
  readonly view: View
  onCreated(group: Group): void
  onClose(): void
}

export function NewGroup({ view, onCreated, onClose }: NewGroupProps) {
  const { api } = useServices()
  // By slot, so that the list does not move while the user selects.
  const entries = decodeSlots(useVisibleSlots({ ...view, sort: 'slot' }))
  const slots = entries.filter(({ kind }) => kind !== 'spacer').map(({ slot }) => slot)
  const selection = useSelection(slots)
  const contents = useSlotContents(slots)
  return (
    <FormDialog
      title={t('live.newGroup')}
      action={t('groups.addAction')}
      check={() => (selection.ids.length > 0 ? null : { kind: 'refused', detail: t('groups.selectChannels') })}
      send={(values) => {
        const body = { title: String(values.get('title')).trim(), slots: [...selection.ids] }
        return api.write('POST', '/api/group/', body, 'object')
      }}
      onDone={(group) => {
        onCreated(group)
        onClose()
      }}
      onClose={onClose}
    >
      <Field name="title" label={t('groups.fieldTitle')} autoComplete="off" maxLength={255} />
      <fieldset className="field">
        <legend>{t('groups.channels')}</legend>
        <BulkBar selection={selection}>{null}</BulkBar>
        <ul className="slot-choices">
          {contents.map(({ slot, name }) => (
            <li key={slot}>
              <label className="tick">
                <input type="checkbox" checked={selection.has(slot)} onChange={() => selection.toggle(slot)} />
                <span>
                  <small>{slot}</small> <bdi>{name}</bdi>
                </span>
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
    </FormDialog>
  )
}
