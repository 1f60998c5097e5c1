import { useState } from 'react'
import type { AudioStreamBody } from '../../../src/contract/audio-streams.ts'
import { streamEncodings, streamRates } from '../../../src/domain/audio/audio-stream.ts'
import { useServices } from '../../app/context.ts'
import { formatHertz, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { ActionDialog, Removal } from '../../parts/dialogs/dialog.tsx'
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx'
import { ChoiceButtons } from '../../parts/forms/choice.tsx'
import { changedFields, textIn } from '../../parts/forms/entries.ts'
import { Field, SelectField, TextField } from '../../parts/forms/field.tsx'
import { useLatest } from '../../parts/forms/use-latest.ts'

export type StreamQuestion =
  | { readonly kind: 'add' }
  | { readonly kind: 'change' | 'disable' | 'remove'; readonly stream: AudioStreamBody }

interface DialogProps {
  onClose(): void
  /** Called after a change. */
  onDone(): Promise<void>
}

interface EditProps extends DialogProps {
  readonly stream: AudioStreamBody
}

const path = '/api/audio/streams/'

export function StreamDialog({ question, ...props }: DialogProps & { readonly question: StreamQuestion }) {
  switch (question.kind) {
    case 'add':
      return <Add {...props} />
    case 'change':
      return <Change stream={question.stream} {...props} />
    case 'disable':
      return <Disable stream={question.stream} {...props} />
    case 'remove':
      return <Remove stream={question.stream} {...props} />
    default:
      return question satisfies never
  }
}

const ways = ['sdp', 'fields'] as const
type Way = (typeof ways)[number]

function Add({ onClose, onDone }: DialogProps) {
  const { api } = useServices()
  const [way, setWay] = useState<Way>('sdp')
  return (
    <FormDialog
      title={t('streams.add')}
      action={t('streams.addAction')}
      send={(values) => api.write('POST', path, way === 'sdp' ? sdpBody(values) : fieldsBody(values), 'object')}
      done={({ name }) => t('streams.added', { name: plainText(name) })}
      onDone={onDone}
      onClose={onClose}
    >
      <fieldset className="tabs" aria-label={t('streams.way')}>
        <ChoiceButtons<Way> value={way} values={ways} nameOf={(way) => t(`streams.ways.${way}`)} onChoice={setWay} />
      </fieldset>
      {way === 'sdp' ? (
        <TextField
          name="sdp"
          label={t('streams.sdp')}
          hint={t('streams.sdpHint')}
          rows={10}
          spellCheck={false}
          autoComplete="off"
        />
      ) : (
        <EnteredFields />
      )}
      <Field
        name="interface"
        label={t('streams.interface')}
        hint={t('streams.interfaceHint')}
        required={false}
        autoComplete="off"
        maxLength={64}
      />
    </FormDialog>
  )
}

function EnteredFields() {
  return (
    <div className="field-columns">
      <Field name="name" label={t('streams.name')} autoComplete="off" maxLength={255} />
      <Field
        name="address"
        label={t('streams.address')}
        hint={t('streams.addressHint')}
        placeholder="239.69.1.2"
        autoComplete="off"
      />
      <Field name="port" label={t('streams.port')} defaultValue="5004" inputMode="numeric" autoComplete="off" />
      <SelectField
        name="encoding"
        label={t('streams.encoding')}
        options={streamEncodings.map((value) => ({ value, text: t(`streams.encodings.${value}`) }))}
        defaultValue="L24"
      />
      <SelectField
        name="sample_rate"
        label={t('streams.rate')}
        options={streamRates.map((rate) => ({ value: String(rate), text: formatHertz(rate) }))}
        defaultValue="48000"
      />
      <Field name="channels" label={t('streams.channels')} defaultValue="8" inputMode="numeric" autoComplete="off" />
    </div>
  )
}

function sdpBody(values: FormData) {
  return { sdp: String(values.get('sdp') ?? ''), interface: textIn(values, 'interface') || null }
}

function fieldsBody(values: FormData) {
  const number = (name: string) => Number(textIn(values, name))
  const encoding = streamEncodings.find((known) => known === values.get('encoding')) ?? 'L24'
  return {
    ...{ name: textIn(values, 'name'), source: 'manual' as const, address: textIn(values, 'address') },
    ...{ port: number('port'), encoding, sample_rate: number('sample_rate'), channels: number('channels') },
    interface: textIn(values, 'interface') || null,
  }
}

function Change({ stream, onClose, onDone }: EditProps) {
  const { api } = useServices()
  const latest = useLatest(path, stream, [])
  const toBody = (values: FormData) => ({ name: textIn(values, 'name') })
  return (
    <FormDialog
      title={t('streams.changeTitle', { name: plainText(stream.name) })}
      action={t('streams.save')}
      edit={{ address: `${path}${stream.id}/`, record: stream, latest }}
      send={(values, { before, version }) => {
        const body = changedFields(toBody(before), toBody(values))
        return api.write('PATCH', `${path}${stream.id}/`, body, 'object', version)
      }}
      done={({ name }) => t('streams.changed', { name: plainText(name) })}
      onDone={onDone}
      onClose={onClose}
    >
      {({ name }) => (
        <Field
          name="name"
          label={t('streams.name')}
          hint={t('streams.nameHint')}
          defaultValue={name}
          autoComplete="off"
          maxLength={255}
        />
      )}
    </FormDialog>
  )
}

function Disable({ stream: { id, name, version }, onClose, onDone }: EditProps) {
  const { api } = useServices()
  return (
    <ActionDialog
      title={t('streams.disableTitle', { name: plainText(name) })}
      action={t('streams.disable')}
      done={t('streams.disabled', { name: plainText(name) })}
      write={() => api.write('PATCH', `${path}${id}/`, { enabled: false }, 'object', version)}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{t('streams.disableConsequence')}</p>
    </ActionDialog>
  )
}

function Remove({ stream, onClose, onDone }: EditProps) {
  const name = plainText(stream.name)
  return (
    <Removal
      title={t('streams.removeTitle', { name })}
      action={t('streams.remove')}
      done={t('streams.removed', { name })}
      path={`${path}${stream.id}/`}
      record={stream}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{t('streams.removeConsequence')}</p>
      {stream.source === 'manual' ? null : <p>{t('streams.returns')}</p>}
    </Removal>
  )
}
