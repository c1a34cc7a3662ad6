"""`silas init`: the owner's key, the database and the directories; safe to repeat."""

from silas.config import SilasConfig
from silas.home.data_directory import unusable_home
from silas.home.key_vault import key_exists, open_vault
from silas.home.signer_client import enrol, is_apart, remote_signer
from silas.language import tr
from silas.services.cockpit.finding_words import told_of_finding
from silas.services.owner_key import key_place
from silas.services.record import open_record_with


async def initialise(config: SilasConfig) -> list[str]:
    """`silas init`: keys, database, directories; safe to repeat. Returns what is where."""
    folders = (config.data_dir, config.sandbox.verify_dir, config.sandbox.customer_context_dir)
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise unusable_home(config, error) from error
    vault = open_vault(config)
    if is_apart(config) and not key_exists(config, vault):
        enrol(config)
    made = None if is_apart(config) else vault.create(config.owner_id)
    ring = vault.ring(config.owner_id)
    warnings: list[str] = []
    with open_record_with(
        config, warnings, made or remote_signer(config, ring.current), ring
    ) as record:
        await record.log.open()
    return [
        *warnings,
        tr("Silas is ready. Its data is in {folder}.", folder=config.data_dir),
        tr(
            "Owner key {begins}...: {place}",
            begins=vault.public_key(config.owner_id)[:16],
            place=told_of_finding(key_place(config, vault)),
        ),
    ]
