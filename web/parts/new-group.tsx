/** Creates a group of slots from the wall. */

import type { Group } from '../../src/contract/resources/groups.ts'
import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { formatSlots, parseSlots } from '../slots.ts'
import { Field, TextField } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'

interface NewGroupProps {
  /** The slots that the form contains at first. */
  readonly slots: readonly number[]
  onCreated(group: Group): void
  onClose(): void
}

export function NewGroup({ slots, onCreated, onClose }: NewGroupProps) {
  const { api } = useServices()
  return (
    <FormDialog
      title={t('wall.newGroup')}
      action={t('groups.addAction')}
      check={(values) => {
        const read = parseSlots(String(values.get('slots')))
        return read.ok ? null : { kind: 'refused', field: 'slots', detail: read.expected }
      }}
      send={(values) => {
        const read = parseSlots(String(values.get('slots')))
        const body = { title: String(values.get('title')).trim(), slots: read.ok ? read.slots : [] }
        return api.write('POST', '/api/group/', body, 'object')
      }}
      onDone={async (group) => {
        onCreated(group)
        onClose()
      }}
      onClose={onClose}
    >
      <Field name="title" label={t('groups.fieldTitle')} autoComplete="off" maxLength={255} />
      <TextField
        name="slots"
        label={t('groups.fieldSlots')}
        hint={t('wall.slotsHint')}
        rows={3}
        defaultValue={formatSlots(slots)}
      />
    </FormDialog>
  )
}
