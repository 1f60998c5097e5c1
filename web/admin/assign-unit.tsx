/** Assigns a transmitter to a performer. */

import type { Performer } from '../../src/contract/resources/performers.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { type Assignment, assign, type Cast, unitName } from '../parts/assignments.ts'
import { SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useShowMessage } from '../parts/messages.tsx'

interface AssignUnitProps {
  readonly performer: Performer
  readonly cast: Cast
  onDone(): Promise<void>
  onClose(): void
}

export function AssignUnit({ performer, cast, onDone, onClose }: AssignUnitProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const name = plainText(performer.name)
  const send = (values: FormData) =>
    assign(api, cast, { performer: performer.id, wireless_unit: Number(values.get('wireless_unit')) })
  const done = async ({ wireless_unit }: Assignment) => {
    onClose()
    showMessage({ text: t('performers.assigned', { name, unit: unitName(cast.units, wireless_unit) }) })
    await onDone()
  }
  const options = unitOptions(cast, performer.id)
  return (
    <FormDialog
      title={t('performers.assignTitle', { name })}
      action={t('performers.assignAction')}
      check={(values) =>
        values.get('wireless_unit') === ''
          ? { kind: 'refused', field: 'wireless_unit', detail: t('performers.unitMissing') }
          : null
      }
      {...{ send, onClose }}
      onDone={done}
    >
      <SelectField
        name="wireless_unit"
        label={t('performers.fieldUnit')}
        hint={options.length === 0 ? t('performers.noUnits') : t('performers.unitHint')}
        options={[{ value: '', text: t('performers.noUnit') }, ...options]}
      />
    </FormDialog>
  )
}

/** Returns all units except the performer's own (`own` is the performer's id): unassigned units first, then by slot. */
function unitOptions({ units, assignments, performers }: Cast, own: number) {
  const performerOf = new Map(assignments.map(({ wireless_unit, performer }) => [wireless_unit, performer]))
  return units
    .filter(({ id }) => performerOf.get(id) !== own)
    .toSorted(
      (a, b) =>
        Number(performerOf.has(a.id)) - Number(performerOf.has(b.id)) ||
        (a.slot ?? Number.MAX_SAFE_INTEGER) - (b.slot ?? Number.MAX_SAFE_INTEGER) ||
        a.id - b.id,
    )
    .map(({ id }) => {
      const performer = performers.find((performer) => performer.id === performerOf.get(id))
      const unit = unitName(units, id)
      return {
        value: String(id),
        text: performer === undefined ? unit : t('performers.assignedTo', { unit, name: plainText(performer.name) }),
      }
    })
}
