/** The faults that equipment reports about itself or its packs. Separate from the schemas, so that the pages need no TypeBox. */

export const faultTexts = {
  self_test_failed: 'self-test failed',
  no_clock: 'no word clock',
  bad_clock: 'the word clock is faulty',
  antenna_short: 'short circuit at an antenna input',
  antenna_error: 'an antenna has an error',
  hardware_failure: 'hardware failure',
  supply_failed: 'a power supply has failed',
  fan_failed: 'a fan has failed',
  device_too_hot: 'the device is too hot',
  settings_lost: 'settings were lost',
  update_failed: 'the firmware update failed',
  charger_link_lost: 'the link between the chargers is lost',
  battery_error: 'battery error',
  unknown_module: 'unknown charging module',
  unrecognized_battery: 'battery not recognized',
  recovery_failed: 'deep discharge recovery failed',
  charge_failed: 'charging failed',
  check_battery: 'check the battery',
  check_charger: 'check the charger',
  communication_failure: 'no communication with the battery',
  too_hot: 'the battery is too hot to charge',
  too_cold: 'the battery is too cold to charge',
  temperature_out_of_range: 'the battery is too hot or too cold to charge',
  storage_mode: 'storage mode is on (batteries are charged to only 40%)',
} as const

export type Fault = keyof typeof faultTexts

export const faults = Object.keys(faultTexts) as Fault[]
