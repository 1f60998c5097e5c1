import { useSyncExternalStore } from 'react'
import { alertKinds } from '../../src/contract/alert-kinds.ts'
import type { AlarmChoice } from '../app/alarm-choice.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { SoundButton } from '../parts/alerts/sound-button.tsx'
import { Dialog, DialogEnd } from '../parts/dialogs/dialog.tsx'
import { SelectField } from '../parts/forms/field.tsx'
import { NotifyButton } from '../parts/toolbar/tools.tsx'

export function AlarmDialog({ onClose }: { onClose: () => void }) {
  const { alarm } = useServices()
  const { choice } = useSyncExternalStore(alarm.subscribe, alarm.get)
  const groups = useWatchState((watchState) => watchState.groups)
  const change = (values: Partial<AlarmChoice>) => alarm.choose({ ...choice, ...values })
  return (
    <Dialog title={t('sound.title')} onClose={onClose}>
      <p className="dialog-text">{t('sound.effect')}</p>
      <div className="alarm-buttons">
        <SoundButton className="choice" />
        <button type="button" className="choice" onClick={() => void alarm.test()}>
          {t('sound.test')}
        </button>
        <NotifyButton />
      </div>
      <form className="form" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          name="severity"
          label={t('sound.severity')}
          value={choice.severity}
          onChange={({ target }) => change({ severity: target.value === 'critical' ? 'critical' : 'warning' })}
          options={(['warning', 'critical'] as const).map((value) => ({ value, text: t(`sound.severities.${value}`) }))}
        />
        <Ticks
          title={t('sound.kinds')}
          items={alertKinds.map((kind) => ({ id: kind, text: t(`alerts.kinds.${kind}`) }))}
          isOn={(kind) => !choice.mutedKinds.includes(kind)}
          onToggle={(kind) => change({ mutedKinds: toggled(choice.mutedKinds, kind) })}
        />
        {groups.length === 0 ? null : (
          <Ticks
            title={t('sound.groups')}
            items={groups.map(({ id, title }) => ({ id, text: title }))}
            isOn={(id) => choice.groups.includes(id)}
            onToggle={(id) => change({ groups: toggled(choice.groups, id) })}
          />
        )}
      </form>
      <DialogEnd text={t('parts.dialog.close')} onClose={onClose} />
    </Dialog>
  )
}

interface TicksProps<Id> {
  readonly title: string
  readonly items: readonly { readonly id: Id; readonly text: string }[]
  isOn(id: Id): boolean
  onToggle(id: Id): void
}

function Ticks<Id extends string | number>({ title, items, isOn, onToggle }: TicksProps<Id>) {
  return (
    <fieldset className="alarm-ticks">
      <legend>{title}</legend>
      {items.map(({ id, text }) => (
        <label key={id} className="tick">
          <input type="checkbox" checked={isOn(id)} onChange={() => onToggle(id)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  )
}

function toggled<Id>(ids: readonly Id[], id: Id): readonly Id[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id]
}
