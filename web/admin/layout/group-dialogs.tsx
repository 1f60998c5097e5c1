import type { Group } from '../../../src/contract/groups.ts'
import type { Unstored } from '../../../src/domain/versions.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { formatSlots, parseSlots, slotsProblem } from '../../parts/channels/slots.ts'
import { Removal } from '../../parts/dialogs/dialog.tsx'
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx'
import { changedFields } from '../../parts/forms/entries.ts'
import { Field, SelectField, TextField, TickField } from '../../parts/forms/field.tsx'
import { useLatest } from '../../parts/forms/use-latest.ts'
import { useManufacturerFilter } from '../filters.ts'

export type GroupQuestion = { readonly kind: 'add' } | { readonly kind: 'change' | 'remove'; readonly group: Group }

interface DialogProps {
  onDone(): Promise<void>
  onClose(): void
}

export function GroupDialog({ question, ...rest }: DialogProps & { readonly question: GroupQuestion }) {
  if (question.kind === 'add') return <GroupForm group={null} {...rest} />
  if (question.kind === 'change') return <GroupForm group={question.group} {...rest} />
  return <Remove group={question.group} {...rest} />
}

function GroupForm({ group, onDone, onClose }: DialogProps & { group: Group | null }) {
  const { api } = useServices()
  const latest = useLatest('/api/groups/', group, ['groups'])
  return (
    <FormDialog
      title={group === null ? t('groups.add') : t('groups.changeTitle', { title: plainText(group.title) })}
      action={group === null ? t('groups.addAction') : t('groups.save')}
      check={(values) => slotsProblem(values, 'slots')}
      edit={{ address: `/api/groups/${group?.id ?? ''}`, record: group, latest, canAdd: true }}
      send={(values, { record, before, version }) => {
        const body = toBody(values)
        return record === null
          ? api.write('POST', '/api/group/', body, 'object')
          : api.write('PUT', `/api/groups/${record.id}/`, changedFields(toBody(before), body), 'object', version)
      }}
      done={({ title }) => t(group === null ? 'groups.added' : 'groups.changed', { title: plainText(title) })}
      {...{ onDone, onClose }}
    >
      {(record) => <GroupFields group={record} />}
    </FormDialog>
  )
}

function GroupFields({ group }: { group: Group | null }) {
  const makers = useManufacturerFilter()
  const options = makers.kind === 'choice' ? [...makers.options] : []
  // Stays an option after its deletion, so that saving does not change it.
  const own = group?.manufacturer ?? ''
  if (own !== '' && !options.some(({ value }) => value === own)) options.push({ value: own, text: own })
  return (
    <>
      <Field
        name="title"
        label={t('groups.fieldTitle')}
        defaultValue={group?.title}
        autoComplete="off"
        maxLength={255}
      />
      <TextField
        name="slots"
        label={t('groups.fieldSlots')}
        hint={t('groups.slotsHint')}
        rows={3}
        defaultValue={formatSlots(group?.slots ?? [])}
      />
      <TickField name="hide_charts" label={t('groups.hideCharts')} defaultChecked={group?.hide_charts ?? false} />
      <Field
        name="zone"
        label={t('groups.fieldZone')}
        hint={t('groups.zoneHint')}
        defaultValue={group?.zone ?? ''}
        autoComplete="off"
        maxLength={64}
        required={false}
      />
      <SelectField
        key={options.length}
        name="manufacturer"
        label={t('groups.fieldManufacturer')}
        hint={t('groups.manufacturerHint')}
        options={[{ value: '', text: t('groups.anyManufacturer') }, ...options]}
        defaultValue={own}
      />
    </>
  )
}

function toBody(values: FormData): Unstored<Group> {
  const read = parseSlots(String(values.get('slots')))
  return {
    title: String(values.get('title')).trim(),
    slots: read.ok ? read.slots : [],
    hide_charts: values.has('hide_charts'),
    zone: String(values.get('zone')).trim() || null,
    manufacturer: String(values.get('manufacturer')) || null,
  }
}

function Remove({ group, ...rest }: DialogProps & { group: Group }) {
  const name = plainText(group.title)
  return (
    <Removal
      title={t('groups.removeTitle', { title: name })}
      action={t('groups.remove')}
      done={t('groups.removed', { title: name })}
      path={`/api/groups/${group.id}/`}
      record={group}
      {...rest}
    >
      <p>{t('groups.removeConsequence', { count: group.slots.length })}</p>
    </Removal>
  )
}
