import { useState } from 'react'
import type { FrequencyProfileBody } from '../../src/contract/frequency-profiles.ts'
import { type GuardLevel, guardLevels, productKinds } from '../../src/contract/values.ts'
import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Resource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Removal } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { changedFields } from '../parts/forms/entries.ts'
import { Field } from '../parts/forms/field.tsx'
import { useLatest } from '../parts/forms/use-latest.ts'
import { Loaded } from '../parts/loaded.tsx'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'

type Guards = FrequencyProfileBody['levels'][GuardLevel]

const guardKinds = ['spacing', ...productKinds] as const
/** The other guards are 0 in nearly all profiles. */
const tableKinds = ['spacing', '2t3o', '3t3o', '2t5o'] as const

interface ProfilesProps {
  readonly resource: Resource<readonly FrequencyProfileBody[]>
  readonly level: GuardLevel
  onDone(): Promise<void>
}

type Question = { readonly kind: 'change' | 'reset'; readonly profile: FrequencyProfileBody }

export function Profiles({ resource, level, onDone }: ProfilesProps) {
  const mayOperate = useMay('operate')
  const [question, setQuestion] = useState<Question | null>(null)
  const close = () => setQuestion(null)
  const columns = columnsOf(level, mayOperate ? setQuestion : null)
  return (
    <section className="frequencies-section screen-only" aria-label={t('frequencies.profiles.title')}>
      <h2>{t('frequencies.profiles.title')}</h2>
      <p className="hint">{t('frequencies.profiles.intro', { level: t(`frequencies.levels.${level}`) })}</p>
      <Loaded resource={resource}>
        {(profiles) => (
          <DataTable
            caption={t('frequencies.profiles.title')}
            columns={columns}
            rows={profiles}
            idOf={({ id }) => id}
          />
        )}
      </Loaded>
      {question?.kind === 'change' ? (
        <EditProfile profile={question.profile} level={level} onDone={onDone} onClose={close} />
      ) : null}
      {question?.kind === 'reset' ? (
        <Removal
          title={t('frequencies.profiles.resetTitle', { name: plainText(question.profile.name) })}
          action={question.profile.is_built_in ? t('settings.reset') : t('frequencies.profiles.remove')}
          done={t('frequencies.profiles.resetDone')}
          path={`/api/frequencies/profiles/${question.profile.id}/`}
          record={question.profile}
          onDone={onDone}
          onClose={close}
        >
          <p>
            {question.profile.is_built_in ? t('frequencies.profiles.resetText') : t('frequencies.profiles.removeText')}
          </p>
        </Removal>
      ) : null}
    </section>
  )
}

function columnsOf(
  level: GuardLevel,
  onAsk: ((question: Question) => void) | null,
): readonly Column<FrequencyProfileBody>[] {
  const guards = tableKinds.map(
    (kind): Column<FrequencyProfileBody> => ({
      ...{ key: kind, title: t(`frequencies.guards.${kind}`), align: 'end' },
      cell: ({ levels }) => levels[level][kind],
    }),
  )
  const actions: Column<FrequencyProfileBody> = {
    key: 'actions',
    title: t('frequencies.profiles.actions'),
    cell: (profile) => <Actions profile={profile} onAsk={onAsk} />,
  }
  return [
    {
      ...{ key: 'name', title: t('frequencies.table.profile') },
      cell: ({ name, is_changed, is_built_in }) => (
        <>
          <bdi>{plainText(name)}</bdi>{' '}
          {is_changed || !is_built_in ? <span className="tag">{t('frequencies.profiles.changed')}</span> : null}
        </>
      ),
    },
    ...guards,
    {
      ...{ key: 'window', title: t('frequencies.profiles.window'), align: 'end' },
      cell: ({ window_mhz }) => window_mhz[level] ?? t('parts.unknown'),
    },
    { key: 'source', title: t('frequencies.profiles.source'), cell: ({ source }) => <bdi>{plainText(source)}</bdi> },
    ...(onAsk === null ? [] : [actions]),
  ]
}

function Actions({ profile, onAsk }: { profile: FrequencyProfileBody; onAsk: ((question: Question) => void) | null }) {
  const { name, is_built_in, is_changed } = profile
  const last = is_built_in ? t('settings.reset') : t('frequencies.profiles.remove')
  return (
    <span className="box-actions">
      <button type="button" className="choice" onClick={() => onAsk?.({ kind: 'change', profile })}>
        {t('frequencies.profiles.edit')}
        <span className="visually-hidden"> {name}</span>
      </button>
      {is_built_in && !is_changed ? null : (
        <button type="button" className="choice" onClick={() => onAsk?.({ kind: 'reset', profile })}>
          {last}
          <span className="visually-hidden"> {name}</span>
        </button>
      )}
    </span>
  )
}

interface EditProfileProps {
  readonly profile: FrequencyProfileBody
  readonly level: GuardLevel
  onDone(): Promise<void>
  onClose(): void
}

function EditProfile({ profile, level, onDone, onClose }: EditProfileProps) {
  const { api } = useServices()
  const { id, name } = profile
  const latest = useLatest('/api/frequencies/profiles/', profile, ['frequencies'])
  const bodyOf = (values: FormData, { levels, window_mhz }: FrequencyProfileBody) => {
    const guardsOf = (of: GuardLevel) =>
      Object.fromEntries(
        guardKinds.map((kind) => [kind, Number(values.get(`${of}.${kind}`) ?? levels[of][kind])]),
      ) as Guards
    return {
      levels: Object.fromEntries(guardLevels.map((of) => [of, guardsOf(of)])) as Record<GuardLevel, Guards>,
      window_mhz: { ...window_mhz, [level]: windowOf(values) },
      source: String(values.get('source')),
    }
  }
  return (
    <FormDialog
      title={t('frequencies.profiles.editTitle', { name: plainText(name), level: t(`frequencies.levels.${level}`) })}
      action={t('settings.save')}
      check={(values) => valueProblem(values, level)}
      done={() => t('frequencies.profiles.done', { name: plainText(name) })}
      edit={{ address: `/api/frequencies/profiles/${id}/`, record: profile, latest }}
      send={(values, { record, before, version }) => {
        const change = changedFields(bodyOf(before, record), bodyOf(values, record))
        return api.write('PATCH', `/api/frequencies/profiles/${id}/`, change, 'object', version)
      }}
      {...{ onDone, onClose }}
    >
      {(record) => <ProfileFields profile={record} level={level} />}
    </FormDialog>
  )
}

function ProfileFields({
  profile: { levels, window_mhz, source },
  level,
}: Pick<EditProfileProps, 'profile' | 'level'>) {
  return (
    <>
      <div className="field-columns">
        {guardKinds.map((kind) => (
          <Field
            key={kind}
            name={`${level}.${kind}`}
            label={t('frequencies.profiles.guard', { name: t(`frequencies.guards.${kind}`) })}
            inputMode="numeric"
            autoComplete="off"
            defaultValue={levels[level][kind]}
          />
        ))}
        <Field
          name="window"
          label={t('frequencies.profiles.windowMhz')}
          required={false}
          inputMode="decimal"
          autoComplete="off"
          defaultValue={window_mhz[level] ?? ''}
        />
      </div>
      <p className="hint">{t('frequencies.profiles.guardHint')}</p>
      <Field name="source" label={t('frequencies.profiles.source')} required={false} defaultValue={source} />
    </>
  )
}

function windowOf(values: FormData): number | null {
  const text = String(values.get('window')).trim().replace(',', '.')
  return text === '' ? null : Number(text)
}

function valueProblem(values: FormData, level: GuardLevel): Problem | null {
  const field = guardKinds
    .map((kind) => `${level}.${kind}`)
    .find((name) => !/^\d{1,5}$/.test(String(values.get(name)).trim()))
  if (field !== undefined) return { kind: 'refused', field, detail: t('frequencies.profiles.guardExpected') }
  const window = windowOf(values)
  if (window === null || (window > 0 && window <= 10_000)) return null
  return { kind: 'refused', field: 'window', detail: t('frequencies.profiles.windowExpected') }
}
