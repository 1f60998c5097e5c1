/** What a performer wears from now on. */

import type { Performer } from '../../src/model/hardware.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useSay } from '../parts/messages.tsx'
import { assign, type Cast, unitName, type Wearing } from './wearing.ts'

interface AssignUnitProps {
  readonly performer: Performer
  readonly cast: Cast
  onDone(): Promise<void>
  onClose(): void
}

export function AssignUnit({ performer, cast, onDone, onClose }: AssignUnitProps) {
  const { api } = useSurroundings()
  const say = useSay()
  const name = plainText(performer.name)
  const send = (values: FormData) =>
    assign(api, cast, { performer: performer.id, wireless_unit: Number(values.get('wireless_unit')) })
  const done = async ({ wireless_unit }: Wearing) => {
    onClose()
    say({ text: t('performers.assigned', { name, unit: unitName(cast.units, wireless_unit) }) })
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

/** In the order of the wall; those that nobody wears come first. What this performer wears is left out. */
function unitOptions({ units, wearings, performers }: Cast, own: number) {
  const wearerOf = new Map(wearings.map(({ wireless_unit, performer }) => [wireless_unit, performer]))
  return units
    .filter(({ id }) => wearerOf.get(id) !== own)
    .toSorted(
      (a, b) =>
        Number(wearerOf.has(a.id)) - Number(wearerOf.has(b.id)) ||
        (a.slot ?? Number.MAX_SAFE_INTEGER) - (b.slot ?? Number.MAX_SAFE_INTEGER) ||
        a.id - b.id,
    )
    .map(({ id }) => {
      const wearer = performers.find((one) => one.id === wearerOf.get(id))
      const unit = unitName(units, id)
      return {
        value: String(id),
        text: wearer === undefined ? unit : t('performers.assignedTo', { unit, name: plainText(wearer.name) }),
      }
    })
}
