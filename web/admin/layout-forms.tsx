/** Forms about a place, and about one receiver or several. */

import type { LayoutLocation, LayoutReceiver, Location } from '../../src/model/location.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import type { Place, Standing } from '../layout.ts'
import type { Tally } from '../one-by-one.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { receiversPath, useMove } from './layout-move.ts'
import { nameOf } from './layout-place.tsx'

const locationsPath = '/api/admin/locations/'

interface Shared {
  readonly places: readonly Place[]
  onClose(): void
}

interface PlaceFormProps extends Shared {
  /** Null for a new one. */
  readonly location: LayoutLocation | null
  readonly parent: number | null
  onDone(location: Location): void
}

export function PlaceForm({ location, parent, places, onDone, onClose }: PlaceFormProps) {
  const { api } = useSurroundings()
  const own = location?.id
  const others = places.filter(({ within }) => own === undefined || !within.includes(own))
  const send = (values: FormData) => {
    const body = {
      name: textOf(values, 'name'),
      description: textOf(values, 'description'),
      parent: placeOf(values, 'parent'),
    }
    return own === undefined
      ? api.write('POST', locationsPath, body, isObject<Location>)
      : api.write('PATCH', `${locationsPath}${own}/`, body, isObject<Location>)
  }
  return (
    <Dialog
      title={location === null ? t('layout.add') : t('layout.editOf', { name: plainText(location.name) })}
      onClose={onClose}
    >
      <Form action={t('layout.save')} others={<Cancel onClose={onClose} />} send={send} onDone={onDone}>
        <Field
          name="name"
          label={t('layout.location.name')}
          defaultValue={location?.name}
          maxLength={255}
          autoFocus={true}
        />
        <Field
          name="description"
          label={t('layout.location.description')}
          defaultValue={location?.description}
          maxLength={2000}
          required={false}
        />
        <SelectField
          name="parent"
          label={t('layout.location.parent')}
          defaultValue={parent ?? ''}
          options={[{ value: '', text: t('layout.location.top') }, ...optionsOf(others)]}
        />
      </Form>
    </Dialog>
  )
}

interface ReceiverFormProps extends Shared {
  readonly receiver: LayoutReceiver
  readonly place: number | null
  onDone(): void
}

/** Sends only what was changed: an untouched name stays its system's own. */
export function ReceiverForm({ receiver, place, places, onDone, onClose }: ReceiverFormProps) {
  const { api } = useSurroundings()
  const send = (values: FormData) => {
    const [name, location, reason] = [textOf(values, 'name'), placeOf(values, 'location'), textOf(values, 'reason')]
    const body = {
      ...(name !== receiver.name && { name: name === '' ? null : name }),
      ...(location !== place && { location }),
      ...(reason !== '' && { reason }),
    }
    return api.write('PATCH', `${receiversPath}${receiver.id}/`, body, isObject)
  }
  return (
    <Dialog title={t('layout.editOf', { name: nameOf(receiver) })} onClose={onClose}>
      <Form action={t('layout.save')} others={<Cancel onClose={onClose} />} send={send} onDone={onDone}>
        <Field
          name="name"
          label={t('layout.receiver.name')}
          hint={t('layout.receiver.nameHint')}
          defaultValue={receiver.name}
          maxLength={255}
          autoFocus={true}
        />
        <PlaceField name="location" label={t('layout.receiver.location')} places={places} at={place} />
        <ReasonField />
      </Form>
    </Dialog>
  )
}

interface MoveFormProps extends Shared {
  readonly moved: readonly Standing[]
  onDone(tally: Tally): void
}

export function MoveForm({ moved, places, onDone, onClose }: MoveFormProps) {
  const move = useMove()
  const send = (values: FormData) => {
    const location = placeOf(values, 'location')
    return move(
      moved.map((one) => ({ ...one, place: location })),
      textOf(values, 'reason'),
    )
  }
  return (
    <Dialog title={t('layout.move.question', { count: moved.length })} onClose={onClose}>
      <Form action={t('layout.move.text')} others={<Cancel onClose={onClose} />} send={send} onDone={onDone}>
        <PlaceField name="location" label={t('layout.move.to')} places={places} at={places[0]?.id ?? null} />
        <ReasonField />
      </Form>
    </Dialog>
  )
}

interface PlaceFieldProps {
  readonly name: string
  readonly label: string
  readonly places: readonly Place[]
  readonly at: number | null
}

function PlaceField({ name, label, places, at }: PlaceFieldProps) {
  const options = [...optionsOf(places), { value: '', text: t('layout.noLocationChoice') }]
  return <SelectField name={name} label={label} defaultValue={at ?? ''} options={options} />
}

function ReasonField() {
  return (
    <Field
      name="reason"
      label={t('layout.receiver.reason')}
      hint={t('layout.receiver.reasonHint')}
      maxLength={1024}
      required={false}
    />
  )
}

function Cancel({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" className="choice" onClick={onClose}>
      {t('parts.dialog.cancel')}
    </button>
  )
}

function optionsOf(places: readonly Place[]) {
  return places.map(({ id, path }) => ({ value: String(id), text: plainText(path) }))
}

function textOf(values: FormData, name: string): string {
  return String(values.get(name) ?? '').trim()
}

function placeOf(values: FormData, name: string): number | null {
  const chosen = textOf(values, name)
  return chosen === '' ? null : Number(chosen)
}
