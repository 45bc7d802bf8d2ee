from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0004_source_records")]

    operations = [
        migrations.AddField(
            model_name="servingrow",
            name="windowed",
            field=models.BooleanField(default=False, help_text="too long for one vector: further windows are passages"),
        ),
    ]
