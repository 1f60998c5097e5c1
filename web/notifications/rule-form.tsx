import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { alertKinds } from '../../src/contract/alert-kinds.ts'
import type { NotificationChannelBody, NotificationRuleBody } from '../../src/contract/notifications.ts'
import { severities, weekdays } from '../../src/contract/values.ts'
import { localSite } from '../../src/domain/equipment/sites.ts'
import { allSites } from '../../src/domain/notifications/rule.ts'
import type { Problem } from '../app/api.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { formatWeekday, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { displayName, manufacturersPath } from '../parts/equipment/manufacturer-names.tsx'
import { ChoicesField } from '../parts/forms/choices-field.tsx'
import { changedFields } from '../parts/forms/entries.ts'
import { Field, SelectField, TickField } from '../parts/forms/field.tsx'
import { useFieldState, useTickState } from '../parts/forms/field-state.ts'
import { useLatest } from '../parts/forms/use-latest.ts'
import { notificationTopics, rulesPath } from '../parts/notifiers.ts'
import { ruleSentence, siteText, useRuleNames } from './rule-sentence.ts'
import {
  passesMidnight,
  type RuleValues,
  ruleOf,
  ruleTimes,
  type Schedule,
  suggestedRule,
  timeOf,
  usualSchedule,
} from './rule-values.ts'

interface RuleFormProps {
  /** As it was when the form opened; null to add a rule. */
  readonly rule: NotificationRuleBody | null
  readonly notifiers: readonly NotificationChannelBody[]
  onDone(): Promise<void>
  onClose(): void
}

export function RuleForm({ rule, notifiers, onDone, onClose }: RuleFormProps) {
  const { api } = useServices()
  const latest = useLatest(rulesPath, rule, notificationTopics)
  const [edits, setEdits] = useState(0)
  return (
    <FormDialog
      title={
        rule === null ? t('notifications.rules.add') : t('notifications.form.edit', { name: plainText(rule.name) })
      }
      action={t('notifications.form.save')}
      check={(values) => findProblem(ruleOf(values))}
      edit={{ address: `${rulesPath}${rule?.id ?? ''}`, record: rule, latest, canAdd: true }}
      send={(values, { record, before, version }) => {
        const body = ruleOf(values)
        return record === null
          ? api.write('POST', rulesPath, body, 'object')
          : api.write('PATCH', `${rulesPath}${record.id}/`, changedFields(ruleOf(before), body), 'object', version)
      }}
      done={({ name }) =>
        t(rule === null ? 'notifications.rules.added' : 'notifications.rules.saved', { name: plainText(name) })
      }
      onChange={() => setEdits((count) => count + 1)}
      {...{ onDone, onClose }}
    >
      {(record) => <RuleFields rule={record} {...{ notifiers, edits }} />}
    </FormDialog>
  )
}

interface RuleFieldsProps extends Pick<RuleFormProps, 'rule' | 'notifiers'> {
  /** The number of changes. */
  readonly edits: number
}

function RuleFields({ rule, notifiers, edits }: RuleFieldsProps) {
  const names = useRuleNames(notifiers)
  const [first] = notifiers
  // A single notifier is selected by default.
  const initial = rule ?? suggestedRule('', first !== undefined && notifiers.length === 1 ? [first.id] : [])
  const { draft, sentence } = useDraft(initial, edits)
  return (
    <>
      <p className="rule-sentence" ref={sentence}>
        <bdi>{ruleSentence(draft, names)}</bdi>
      </p>
      <Field
        name="name"
        label={t('notifications.rules.name')}
        hint={t('notifications.rules.nameHint')}
        defaultValue={initial.name}
        autoComplete="off"
        maxLength={255}
      />
      <NotifierChoice name="notification_channel_ids" notifiers={notifiers} chosen={initial.notification_channel_ids} />
      <WhichAlerts initial={initial} />
      <When initial={initial} />
      <NumberField
        name="delay_seconds"
        label={t('notifications.rules.delay')}
        hint={t('notifications.rules.delayHint')}
        defaultValue={initial.delay_seconds}
      />
      <NumberField
        name="repeat_minutes"
        label={t('notifications.rules.repeat')}
        hint={t('notifications.rules.repeatHint')}
        defaultValue={initial.repeat_minutes}
      />
      <TickField
        name="send_cleared"
        label={t('notifications.rules.cleared')}
        hint={t('notifications.rules.clearedHint')}
        defaultChecked={initial.send_cleared}
      />
      <Escalation initial={initial} notifiers={notifiers} />
    </>
  )
}

function NumberField(props: Pick<ComponentProps<typeof Field>, 'name' | 'label' | 'hint' | 'defaultValue'>) {
  return <Field {...props} inputMode="numeric" autoComplete="off" />
}

/** Read after each edit, when dependent fields are shown. */
function useDraft(initial: RuleValues, edits: number) {
  const sentence = useRef<HTMLParagraphElement>(null)
  const [draft, setDraft] = useState(initial)
  useEffect(() => {
    const form = sentence.current?.closest('form')
    if (form && edits > 0) setDraft(ruleOf(new FormData(form)))
  }, [edits])
  return { draft, sentence }
}

interface PartProps {
  readonly initial: RuleValues
}

function NotifierChoice({
  name,
  notifiers,
  chosen,
}: {
  readonly name: 'notification_channel_ids' | 'escalate.notification_channel_ids'
  readonly notifiers: readonly NotificationChannelBody[]
  readonly chosen: readonly number[]
}) {
  return (
    <ChoicesField
      name={name}
      label={t(name === 'notification_channel_ids' ? 'notifications.rules.to' : 'notifications.rules.escalateTo')}
      options={notifiers.map(({ id, name: text, enabled }) => ({
        value: String(id),
        text: enabled ? plainText(text) : t('notifications.rules.disabledChannel', { name: plainText(text) }),
      }))}
      chosen={chosen.map(String)}
    />
  )
}

function WhichAlerts({ initial }: PartProps) {
  const groups = useWatchState((watchState) => watchState.groups)
  const manufacturers = useResource(manufacturersPath, 'list').body ?? []
  // Deleted manufacturers stay a choice, so that saving does not change the rule.
  const codes = [...new Set([...manufacturers.map(({ code }) => code), ...initial.manufacturers])]
  const isNarrow = initial.kinds.length + initial.excluded_kinds.length + initial.manufacturers.length > 0
  const kindOptions = alertKinds.map((kind) => ({ value: kind, text: t(`alerts.kinds.${kind}`) }))
  return (
    <>
      <SelectField
        name="min_severity"
        label={t('notifications.rules.alerts')}
        options={severities
          .toReversed()
          .map((value) => ({ value, text: t(`notifications.sentence.severities.${value}`) }))}
        defaultValue={initial.min_severity}
      />
      {groups.length === 0 ? null : (
        <ChoicesField
          name="group_ids"
          label={t('notifications.rules.groups')}
          hint={t('notifications.rules.groupsHint')}
          options={groups.map(({ id, title }) => ({ value: String(id), text: plainText(title) }))}
          chosen={initial.group_ids.map(String)}
        />
      )}
      <SiteChoices chosen={initial.sites} />
      <details className="advanced" open={isNarrow}>
        <summary>{t('notifications.rules.narrower')}</summary>
        <ChoicesField
          name="kinds"
          label={t('notifications.rules.kinds')}
          hint={t('notifications.rules.kindsHint')}
          options={kindOptions}
          chosen={initial.kinds}
        />
        <ChoicesField
          name="excluded_kinds"
          label={t('notifications.rules.excludedKinds')}
          hint={t('notifications.rules.excludedKindsHint')}
          options={kindOptions}
          chosen={initial.excluded_kinds}
        />
        {codes.length === 0 ? null : (
          <ChoicesField
            key={codes.length}
            name="manufacturers"
            label={t('notifications.rules.manufacturers')}
            hint={t('notifications.rules.manufacturersHint')}
            options={codes.map((code) => ({
              value: code,
              text: displayName(manufacturers.find((manufacturer) => manufacturer.code === code) ?? { name: '', code }),
            }))}
            chosen={initial.manufacturers}
          />
        )}
      </details>
    </>
  )
}

/** Only if this installation follows sites, or the rule names one. */
function SiteChoices({ chosen }: { chosen: readonly string[] }) {
  const sites = useResource('/api/sites/', 'list').body ?? []
  // Removed sites stay a choice, so that saving does not change the rule.
  const codes = [...new Set([localSite, allSites, ...sites.map(({ code }) => code), ...chosen])]
  if (sites.length === 0 && chosen.length === 0) return null
  return (
    <ChoicesField
      key={codes.length}
      name="sites"
      label={t('notifications.rules.sites')}
      hint={t('notifications.rules.sitesHint')}
      options={codes.map((code) => ({ value: code, text: siteText(code, sites) }))}
      chosen={chosen}
    />
  )
}

function When({ initial: { when } }: PartProps) {
  const [value, setTime] = useFieldState('when', timeOf(when))
  const time = ruleTimes.find((known) => known === value) ?? 'always'
  return (
    <>
      <SelectField
        name="when"
        label={t('notifications.rules.when')}
        hint={t(`notifications.rules.whenHints.${time}`)}
        options={ruleTimes.map((value) => ({ value, text: t(`notifications.rules.times.${value}`) }))}
        value={time}
        onChange={({ target }) => setTime(target.value)}
      />
      {time === 'schedule' ? <ScheduleFields schedule={typeof when === 'string' ? null : when} /> : null}
    </>
  )
}

const usualEscalationSeconds = 60

function Escalation({ initial: { escalate }, notifiers }: PartProps & Pick<RuleFormProps, 'notifiers'>) {
  const [isOn, setOn] = useTickState('escalate', escalate !== null)
  return (
    <>
      <TickField
        name="escalate"
        label={t('notifications.rules.escalate')}
        hint={t('notifications.rules.escalateHint')}
        checked={isOn}
        onChange={({ target }) => setOn(target.checked)}
      />
      {isOn ? (
        <div className="dependent">
          <NumberField
            name="escalate.after_seconds"
            label={t('notifications.rules.escalateAfter')}
            defaultValue={escalate?.after_seconds ?? usualEscalationSeconds}
          />
          <NotifierChoice
            name="escalate.notification_channel_ids"
            notifiers={notifiers}
            chosen={escalate?.notification_channel_ids ?? []}
          />
        </div>
      ) : null}
    </>
  )
}

/** The service would report these about the rule as a whole instead of at the field. */
function findProblem({ name, notification_channel_ids, when, escalate }: RuleValues): Problem | null {
  const problem = (field: string, detail: string): Problem => ({ kind: 'refused', field, detail })
  if (name === '') return problem('name', t('parts.form.missing'))
  if (notification_channel_ids.length === 0)
    return problem('notification_channel_ids', t('notifications.rules.problems.channels'))
  if (typeof when !== 'string') {
    if (when.days.length === 0) return problem('when.days', t('notifications.rules.problems.days'))
    if (when.from === '') return problem('when.from', t('notifications.rules.problems.time'))
    if (when.to === '') return problem('when.to', t('notifications.rules.problems.time'))
  }
  if (escalate === null) return null
  if (!Number.isInteger(escalate.after_seconds) || escalate.after_seconds < 1)
    return problem('escalate.after_seconds', t('notifications.rules.problems.seconds'))
  if (escalate.notification_channel_ids.length === 0)
    return problem('escalate.notification_channel_ids', t('notifications.rules.problems.channels'))
  return null
}

/** Null if the rule had none. */
function ScheduleFields({ schedule }: { schedule: Schedule | null }) {
  const zone = useResource('/api/config/', 'object').body?.TIME_ZONE
  const initial = schedule ?? usualSchedule(zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone)
  const [from, setFrom] = useFieldState('when.from', initial.from)
  const [to, setTo] = useFieldState('when.to', initial.to)
  const hours = { from: { value: from, set: setFrom }, to: { value: to, set: setTo } }
  // The browser may not list the current time zone.
  const zones = [...new Set([initial.time_zone, ...Intl.supportedValuesOf('timeZone')])].sort()
  return (
    <div className="dependent">
      <ChoicesField
        name="when.days"
        label={t('notifications.rules.days')}
        options={weekdays.map((day, index) => ({ value: day, text: formatWeekday(index) }))}
        chosen={initial.days}
      />
      <div className="field-columns">
        {(['from', 'to'] as const).map((end) => (
          <Field
            key={end}
            name={`when.${end}`}
            label={t(`notifications.rules.hours.${end}`)}
            type="time"
            value={hours[end].value}
            onChange={({ target }) => hours[end].set(target.value)}
          />
        ))}
      </div>
      {passesMidnight({ from, to }) ? <p className="hint">{t('notifications.rules.overnight')}</p> : null}
      <SelectField
        key={initial.time_zone}
        name="when.time_zone"
        label={t('notifications.rules.timeZone')}
        options={zones.map((value) => ({ value, text: value }))}
        defaultValue={initial.time_zone}
      />
    </div>
  )
}
