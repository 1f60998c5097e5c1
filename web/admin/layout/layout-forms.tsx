import type { LayoutLocation, LayoutReceiver, Location } from '../../../src/contract/locations.ts'
import type { Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { formatCoordinates, parseCoordinates } from '../../parts/coordinates.ts'
import { CancelButton, Dialog } from '../../parts/dialogs/dialog.tsx'
import { changedFields, textIn } from '../../parts/forms/entries.ts'
import { Field, SelectField } from '../../parts/forms/field.tsx'
import { focused } from '../../parts/forms/focused.ts'
import { Form } from '../../parts/forms/form.tsx'
import type { Sending } from '../../parts/forms/use-edit.tsx'
import { type BulkResult, runForEach } from '../../parts/tables/run-for-each.ts'
import type { LocationOption, PlacedReceiver } from './layout.ts'
import { nameOf } from './layout-location.tsx'

const locationsPath = '/api/admin/locations/'

interface Shared {
  readonly locationOptions: readonly LocationOption[]
  onClose(): void
}

type EditedLocation = Omit<Location, 'version'>

interface PlaceFormProps extends Shared {
  /** Null to create a location. */
  readonly location: LayoutLocation | null
  readonly parent: number | null
  onDone(location: Location): void
}

export function LocationForm({ location, parent, locationOptions, onDone, onClose }: PlaceFormProps) {
  const { api } = useServices()
  const own = location?.id
  const others = locationOptions.filter(({ within }) => own === undefined || !within.includes(own))
  const send = (values: FormData, { record, before, version }: Sending<EditedLocation | null>) => {
    const body = toLocation(values)
    return record === null
      ? api.write('POST', locationsPath, body, 'object')
      : api.write('PATCH', `${locationsPath}${record.id}/`, changedFields(toLocation(before), body), 'object', version)
  }
  return (
    <Dialog
      title={location === null ? t('layout.add') : t('layout.editOf', { name: plainText(location.name) })}
      onClose={onClose}
    >
      <Form
        action={t('layout.save')}
        others={<CancelButton />}
        edit={{ address: `${locationsPath}${own ?? ''}`, record: location && { ...location, parent }, canAdd: true }}
        check={coordinatesProblem}
        send={send}
        onDone={onDone}
      >
        {(record) => (
          <>
            <Field
              name="name"
              label={t('layout.location.name')}
              defaultValue={record?.name}
              maxLength={255}
              {...focused}
            />
            <Field
              name="description"
              label={t('layout.location.description')}
              defaultValue={record?.description}
              maxLength={2000}
              required={false}
            />
            <div className="field-columns">
              <Field
                name="zone"
                label={t('layout.location.zone')}
                hint={t('layout.location.zoneHint')}
                defaultValue={record?.zone ?? ''}
                maxLength={64}
                required={false}
              />
              <SelectField
                name="parent"
                label={t('layout.location.parent')}
                defaultValue={(record === null ? parent : record.parent) ?? ''}
                options={[{ value: '', text: t('layout.location.top') }, ...optionsOf(others)]}
              />
              <Field
                name="country"
                label={t('layout.location.country')}
                hint={t('layout.location.countryHint')}
                defaultValue={record?.country ?? ''}
                autoComplete="off"
                maxLength={2}
                required={false}
              />
              <Field
                name="coordinates"
                label={t('layout.location.coordinates')}
                hint={t('parts.form.coordinatesHint')}
                defaultValue={coordinatesText(record)}
                autoComplete="off"
                required={false}
              />
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

interface ReceiverFormProps extends Shared {
  readonly receiver: LayoutReceiver
  readonly locationId: number | null
  onDone(): void
}

/** As the service returns it after a conflict. */
interface EditedReceiver {
  readonly name: string
  readonly location: { readonly id: number } | null
}

/** If the name were sent unchanged, it would no longer follow the system. */
export function ReceiverForm({ receiver, locationId, locationOptions, onDone, onClose }: ReceiverFormProps) {
  const { api } = useServices()
  const address = `${receiversPath}${receiver.id}/` as const
  const record: EditedReceiver = { ...receiver, location: locationId === null ? null : { id: locationId } }
  const bodyOf = (values: FormData) => ({
    ...{ name: textIn(values, 'name') || null, location: locationOf(values, 'location') },
    ...(textIn(values, 'reason') !== '' && { reason: textIn(values, 'reason') }),
  })
  return (
    <Dialog title={t('layout.editOf', { name: nameOf(receiver) })} onClose={onClose}>
      <Form
        action={t('layout.save')}
        others={<CancelButton />}
        edit={{ address, record }}
        send={(values, { before, version }) =>
          api.write('PATCH', address, changedFields(bodyOf(before), bodyOf(values)), 'object', version)
        }
        onDone={onDone}
      >
        {({ name, location }) => (
          <>
            <Field
              name="name"
              label={t('layout.receiver.name')}
              hint={t('layout.receiver.nameHint')}
              defaultValue={name}
              maxLength={255}
              {...focused}
            />
            <LocationField
              name="location"
              label={t('layout.receiver.location')}
              locationOptions={locationOptions}
              at={location?.id ?? null}
            />
            <ReasonField />
          </>
        )}
      </Form>
    </Dialog>
  )
}

interface MoveFormProps extends Shared {
  readonly moved: readonly PlacedReceiver[]
  onDone(result: BulkResult): void
}

export function MoveForm({ moved, locationOptions, onDone, onClose }: MoveFormProps) {
  const move = useMove()
  const send = (values: FormData) => {
    const location = locationOf(values, 'location')
    return move(
      moved.map((item) => ({ ...item, locationId: location })),
      textIn(values, 'reason'),
    )
  }
  return (
    <Dialog title={t('layout.move.question', { count: moved.length })} onClose={onClose}>
      <Form action={t('layout.move.text')} others={<CancelButton />} send={send} onDone={onDone}>
        <LocationField
          name="location"
          label={t('layout.move.to')}
          locationOptions={locationOptions}
          at={locationOptions[0]?.id ?? null}
        />
        <ReasonField />
      </Form>
    </Dialog>
  )
}

interface PlaceFieldProps {
  readonly name: string
  readonly label: string
  readonly locationOptions: readonly LocationOption[]
  readonly at: number | null
}

function LocationField({ name, label, locationOptions, at }: PlaceFieldProps) {
  const options = [...optionsOf(locationOptions), { value: '', text: t('layout.noLocationChoice') }]
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

function optionsOf(locationOptions: readonly LocationOption[]) {
  return locationOptions.map(({ id, path }) => ({ value: String(id), text: plainText(path) }))
}

function toLocation(values: FormData) {
  return {
    name: textIn(values, 'name'),
    description: textIn(values, 'description'),
    zone: textIn(values, 'zone') || null,
    parent: locationOf(values, 'parent'),
    country: textIn(values, 'country').toUpperCase() || null,
    ...(parseCoordinates(textIn(values, 'coordinates')) ?? { latitude: null, longitude: null }),
  }
}

function coordinatesText(record: Pick<Location, 'latitude' | 'longitude'> | null): string {
  if (record === null || record.latitude === null || record.longitude === null) return ''
  return formatCoordinates({ latitude: record.latitude, longitude: record.longitude })
}

function coordinatesProblem(values: FormData): Problem | null {
  const text = textIn(values, 'coordinates')
  if (text === '' || parseCoordinates(text) !== null) return null
  return { kind: 'refused', field: 'coordinates', detail: t('parts.coordinates.expected') }
}

function locationOf(values: FormData, name: string): number | null {
  const chosen = textIn(values, name)
  return chosen === '' ? null : Number(chosen)
}

export const receiversPath = '/api/admin/receivers/'

export function useMove() {
  const { api } = useServices()
  return (moves: readonly PlacedReceiver[], reason: string) => {
    const byId = new Map(moves.map((move) => [move.receiver.id, move]))
    return runForEach([...byId.keys()], nameIn(moves), (id) => {
      const location = byId.get(id)?.locationId ?? null
      const body = { location, ...(reason !== '' && { reason }) }
      return api.write('PATCH', `${receiversPath}${id}/`, body, 'object')
    })
  }
}

export function nameIn(receivers: readonly PlacedReceiver[]): (id: number) => string {
  return (id) => {
    const found = receivers.find(({ receiver }) => receiver.id === id)
    return found === undefined ? String(id) : nameOf(found.receiver)
  }
}
